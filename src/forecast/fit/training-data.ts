import { OracleError } from '../../platform/errors.ts';
import { computeScale } from '../distribution.ts';
import type { FeatureTable } from '../features/feature-table.ts';
import { MIN_HISTORY_DAYS } from '../input-frame.ts';
import { SortedColumn } from '../math/sorted-column.ts';
import { type HorizonDays, type HorizonModel, LEARNING_RULES, type LearningRules, TRAINING_START } from '../model.ts';
import { m0d1 } from '../models/m0-d1.ts';
import type { ModelVersion } from '../models/model-version.ts';
import { type FitSettings, MODEL_SETTINGS } from './settings.ts';

/** What fits of any settings to one history and horizon have in common; rows are those of the feature table. */
export interface TrainingBasis {
  closes: Float64Array;
  features: FeatureTable;
  horizonDays: HorizonDays;
  firstRow: number;
  /** 1 where the close `horizonDays` later is strictly higher, else 0, also where it is unknown. */
  labels: Float64Array;
  /** 1 / horizon, since labels of overlapping windows are correlated. */
  weights: Float64Array;
  /** h-day log return over its scale where known. */
  residuals: SortedColumn;
  /** By the last training row (exclusive). */
  residualQuantiles: Map<number, HorizonModel['residualQuantiles']>;
  /** By the settings that they depend on and the last training row (exclusive). */
  coefficients: Map<string, Coefficients>;
}

export type Coefficients = Pick<HorizonModel, 'beta' | 'meanX' | 'baseRate'>;

/** Data shared by the fits of all blocks of one horizon. */
export interface TrainingData extends TrainingBasis {
  version: ModelVersion;
  rules: LearningRules;
  /** Columns of the intercept and the scores of `settings.inputs`. */
  design: readonly Float64Array[];
  settings: FitSettings;
}

export interface TrainingSource {
  closes: Float64Array;
  features: FeatureTable;
  horizon: HorizonDays;
  /** Default `m0-d1`. */
  version?: ModelVersion;
  settings?: FitSettings;
  rules?: LearningRules;
  /** Of the same history and horizon, for fits of several settings. */
  basis?: TrainingBasis;
}

/** @throws OracleError INPUT_INVALID when closes and features differ in length */
export function buildTrainingData(source: TrainingSource): TrainingData {
  const { features, version = m0d1, settings = MODEL_SETTINGS, rules = LEARNING_RULES, basis = buildTrainingBasis(source) } = source;
  const design = [new Float64Array(features.length).fill(1), ...settings.inputs.map((name) => features[name])];
  return { ...basis, version, rules, design, settings };
}

/** Starts on 2012-01-01, or where features are complete. @throws OracleError INPUT_INVALID when closes and features differ in length */
export function buildTrainingBasis({ closes, features, horizon }: TrainingSource): TrainingBasis {
  if (closes.length !== features.length) {
    throw new OracleError('INPUT_INVALID', `${closes.length} closes do not fit ${features.length} rows of features`, { field: 'closes' });
  }
  return {
    closes,
    features,
    horizonDays: horizon,
    firstRow: Math.max(TRAINING_START - features.firstDay, MIN_HISTORY_DAYS - 1),
    labels: buildLabels(closes, horizon),
    weights: new Float64Array(closes.length).fill(1 / horizon),
    residuals: new SortedColumn(computeResiduals(closes, features, horizon)),
    residualQuantiles: new Map(),
    coefficients: new Map(),
  };
}

export function getTrainingStart({ firstRow, settings }: TrainingData, to: number): number {
  return Math.max(firstRow, to - settings.trainingDays);
}

function buildLabels(closes: Float64Array, horizon: number): Float64Array {
  const labels = new Float64Array(closes.length);
  for (let row = 0; row + horizon < closes.length; row++) labels[row] = closes[row + horizon] > closes[row] ? 1 : 0;
  return labels;
}

/** NaN where unknown. */
function computeResiduals(closes: Float64Array, { v94, v99 }: FeatureTable, horizon: number): Float64Array {
  const residuals = new Float64Array(closes.length).fill(Number.NaN);
  for (let row = 0; row + horizon < closes.length; row++) {
    residuals[row] = Math.log(closes[row + horizon] / closes[row]) / computeScale(v94[row], v99[row], horizon);
  }
  return residuals;
}
