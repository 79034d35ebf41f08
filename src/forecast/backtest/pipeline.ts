import { computeFeatures, type FeatureTable } from '../features.ts';
import type { TrainingSource } from '../fit/training-data.ts';
import { type BlockFit, walkForward } from '../fit.ts';
import type { InputFrame } from '../frame.ts';
import { LEARNING_RULES, type LearningRules } from '../model.ts';

/** What a walk-forward puts to the test: how features are made, what may be learned from when, how blocks are fitted. */
export interface Pipeline {
  rules: LearningRules;
  features(frame: InputFrame): FeatureTable;
  walk(source: TrainingSource & { lastBlock?: number }): BlockFit[];
}

/** The service's own. Tests hand in broken ones, to see them caught. */
export const PIPELINE: Pipeline = { rules: LEARNING_RULES, features: computeFeatures, walk: walkForward };
