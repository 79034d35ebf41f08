import type { PredictiveDistribution } from '../distribution.ts';
import type { FeatureTable } from '../features/feature-table.ts';
import type { HorizonModel, LearningRules } from '../model.ts';

/** Closes and features of the same days. */
export interface ModelRows {
  closes: Float64Array;
  features: FeatureTable;
  /** Default: those of the service. */
  rules?: LearningRules;
}

/** A day of the feature table, with its calibrated P(return > 0). */
export interface DistributionDay {
  features: FeatureTable;
  row: number;
  pUp: number;
}

/**
 * A version of the model: what it adds to the fit of the direction, which all versions share, and the distribution of a day. Versions are
 * permanent, since the record holds their names.
 */
export interface ModelVersion {
  name: string;
  title: string;
  /** Distributions tried until this version was fixed, those of the versions before it included. */
  distributionTrials: number;
  /** The version's fit of a block from that of the direction; reads nothing after the training days. @throws OracleError INPUT_INVALID */
  fit(direction: HorizonModel, rows: ModelRows): HorizonModel;
  /** Distribution of the h-day log return with P(return > 0) = `pUp`. */
  buildDistribution(model: HorizonModel, day: DistributionDay): PredictiveDistribution;
}
