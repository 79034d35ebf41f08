import { type ComputedFeatures, computeFeatures } from '../features/compute-features.ts';
import type { FeatureTable } from '../features/feature-table.ts';
import type { TrainingSource } from '../fit/training-data.ts';
import { type BlockFit, walkForward } from '../fit/walk-forward.ts';
import type { InputFrame } from '../input-frame.ts';
import { type HorizonModel, LEARNING_RULES, type LearningRules } from '../model.ts';
import type { ModelVersion } from '../models/model-version.ts';
import { MODEL_VERSIONS } from '../models/registry.ts';
import type { Regime } from '../regime/regime.ts';
import { type CoreForecast, computeCoreForecast } from '../signal.ts';

/** A day to forecast within a history that may continue past it. */
export interface HistoryDay {
  model: HorizonModel;
  features: FeatureTable;
  /** Of every row of the features. */
  regimes: readonly Regime[];
  row: number;
}

export type HistoryForecast = CoreForecast & { regime: Regime };

/** The steps that a walk-forward tests: features, learning rules, fits and forecasts. */
export interface Pipeline {
  rules: LearningRules;
  /** `earlier` is the table of a prefix of the frame, reused for speed. */
  features(frame: InputFrame, earlier?: ComputedFeatures): FeatureTable;
  walk(source: TrainingSource & { lastBlock?: number }): BlockFit[];
  forecast(day: HistoryDay): HistoryForecast;
  /** The first is the one of `walk` and `forecast`, which the others are compared with. */
  versions: readonly ModelVersion[];
}

/** The pipeline of the service; canaries also run pipelines broken on purpose. */
export const PIPELINE: Pipeline = {
  rules: LEARNING_RULES,
  features: computeFeatures,
  walk: walkForward,
  forecast: ({ model, features, regimes, row }) => {
    const regime = regimes[row];
    return { regime, ...computeCoreForecast({ model, features, index: row, regime }) };
  },
  versions: MODEL_VERSIONS,
};
