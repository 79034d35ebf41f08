import { type ComputedFeatures, computeFeatures } from '../features/compute-features.ts';
import type { FeatureTable } from '../features/feature-table.ts';
import type { TrainingSource } from '../fit/training-data.ts';
import { type BlockFit, walkForward } from '../fit/walk-forward.ts';
import type { InputFrame } from '../input-frame.ts';
import { type HorizonModel, LEARNING_RULES, type LearningRules } from '../model.ts';
import type { Regime } from '../regime/regime.ts';
import { type CoreForecast, computeCoreForecast } from '../signal.ts';

/** A day to forecast, with a history that may go on behind it. */
export interface HistoryDay {
  model: HorizonModel;
  features: FeatureTable;
  /** Of every row of the features. */
  regimes: readonly Regime[];
  row: number;
}

/** What is said of a day, and in which regime. */
export type HistoryForecast = CoreForecast & { regime: Regime };

/** What a walk-forward puts to the test: how features are made, what may be learned from when, how blocks are fitted, how a day is forecast. */
export interface Pipeline {
  rules: LearningRules;
  /** `earlier`: a table of a history that this one goes on from, to be computed quicker. */
  features(frame: InputFrame, earlier?: ComputedFeatures): FeatureTable;
  walk(source: TrainingSource & { lastBlock?: number }): BlockFit[];
  forecast(day: HistoryDay): HistoryForecast;
}

/** The service's own. Tests hand in broken ones, to see them caught. */
export const PIPELINE: Pipeline = {
  rules: LEARNING_RULES,
  features: computeFeatures,
  walk: walkForward,
  forecast: ({ model, features, regimes, row }) => {
    const regime = regimes[row];
    return { regime, ...computeCoreForecast({ model, features, index: row, regime }) };
  },
};
