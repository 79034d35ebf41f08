import { OracleError } from '../errors.ts';
import { buildDistribution, computeResidualQuantiles, computeScale, type PredictiveDistribution, QUANTILE_COUNT } from './distribution.ts';
import { type FeatureTable, MIN_HISTORY_DAYS } from './inputs.ts';
import {
  computeWindowFactor,
  DISTRIBUTION_TRIAL_COUNT,
  fitWeekdayFactors,
  formatModelVersion,
  getTrainingEnd,
  type HorizonDays,
  type HorizonModel,
  type LearningRules,
  M1_HORIZONS,
  type M1Fit,
  type M1Horizon,
  MIN_TRAINING_DAYS,
  RESIDUAL_DAYS,
  TRAINING_START,
  type WeekdayFactors,
} from './model.ts';

/** Logistic direction with the distribution of scaled past returns. */
export const m0d1 = {
  name: 'm0-d1',
  title: 'past returns over a scale from squared returns',
  distributionTrials: 28,
  fit: (direction) => direction,
  buildDistribution({ horizonDays, residualQuantiles }, { features, row, pUp }) {
    return buildDistribution({ residualQuantiles, scale: computeScale(features.v94[row], features.v99[row], horizonDays), pUp });
  },
} as const satisfies ModelVersion;

/** Closes and features of the same days. */
export interface ModelRows {
  closes: Float64Array;
  features: FeatureTable;
  /** Default: those of the service. */
  rules?: LearningRules;
}

/** A day of the feature table, with its calibrated P(return > 0). */
interface DistributionDay {
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
  buildDistribution(model: DistributionFit, day: DistributionDay): PredictiveDistribution;
}

/** What distributions are built of. */
export type DistributionFit = Pick<HorizonModel, 'horizonDays' | 'residualQuantiles' | 'weekdayWidths'>;

/**
 * The width of a block's distributions, without its direction; null with fewer than `MIN_TRAINING_DAYS`. Reads the rows before `readTo`.
 * @throws OracleError INPUT_INVALID for constant prices
 */
export function fitWidths({ closes, features, rules }: ModelRows, block: number, horizonDays: HorizonDays) {
  const to = getTrainingEnd(block, horizonDays, rules) - features.firstDay;
  const from = Math.max(TRAINING_START - features.firstDay, MIN_HISTORY_DAYS - 1);
  if (to - from < MIN_TRAINING_DAYS) return null;
  const first = Math.max(from, to - RESIDUAL_DAYS);
  const residuals = Float64Array.from({ length: to - first }, (_, index) => {
    const row = first + index;
    return Math.log(closes[row + horizonDays] / closes[row]) / computeScale(features.v94[row], features.v99[row], horizonDays);
  });
  const weekdayWidths = isM1Horizon(horizonDays) ? fitM1({ closes, features, rules }, block, horizonDays) : undefined;
  return { horizonDays, residualQuantiles: computeResidualQuantiles(residuals), weekdayWidths, readTo: to + horizonDays };
}

/** The parameters of a block; reads nothing after its training days. @throws OracleError INPUT_INVALID for constant prices */
export function fitM1(data: ModelRows, block: number, horizonDays: M1Horizon): M1Fit {
  const { closes, features } = data;
  const to = getTrainingEnd(block, horizonDays, data.rules) - features.firstDay;
  const from = Math.max(TRAINING_START - features.firstDay, MIN_HISTORY_DAYS - 1, to - RESIDUAL_DAYS);
  const weekdayFactors = fitWeekdayFactors(closes, features, Math.max(from, TRAINING_START + 1 - features.firstDay), to);
  const returns = new Float64Array(to - from);
  const ranges = new Float64Array(to - from);
  for (let row = from; row < to; row++) {
    const scales = computeScales(features, weekdayFactors, row, horizonDays);
    const logReturn = Math.log(closes[row + horizonDays] / closes[row]);
    returns[row - from] = logReturn / scales.fromReturns;
    ranges[row - from] = logReturn / scales.fromRanges;
  }
  return {
    horizonDays,
    weekdayFactors,
    returnQuantiles: computeResidualQuantiles(returns),
    rangeQuantiles: computeResidualQuantiles(ranges),
  };
}

/** Weekdays and daily ranges in the width at 1 to 3 days; at 7 days, where they did not help, that of `m0-d1`. */
export const m1 = {
  name: 'm1',
  title: 'weekdays and daily ranges in the width, at 1 to 3 days',
  distributionTrials: DISTRIBUTION_TRIAL_COUNT,
  fit(direction, rows) {
    const { block, horizonDays } = direction;
    return isM1Horizon(horizonDays) ? { ...direction, weekdayWidths: fitM1(rows, block, horizonDays) } : direction;
  },
  buildDistribution(model, day) {
    return model.weekdayWidths === undefined ? m0d1.buildDistribution(model, day) : buildM1Distribution(model.weekdayWidths, day);
  },
} as const satisfies ModelVersion;

function isM1Horizon(horizonDays: HorizonDays): horizonDays is M1Horizon {
  return (M1_HORIZONS as readonly HorizonDays[]).includes(horizonDays);
}

/** The mean of the quantiles by both scales. */
export function buildM1Distribution(fit: M1Fit, { features, row, pUp }: DistributionDay): PredictiveDistribution {
  const { returnQuantiles, rangeQuantiles } = fit;
  const { fromReturns, fromRanges } = computeScales(features, fit.weekdayFactors, row, fit.horizonDays);
  const byReturns = buildDistribution({ residualQuantiles: returnQuantiles, scale: fromReturns, pUp }).shift;
  const byRanges = buildDistribution({ residualQuantiles: rangeQuantiles, scale: fromRanges, pUp }).shift;
  const residualQuantiles = new Array<number>(QUANTILE_COUNT);
  for (let index = 0; index < QUANTILE_COUNT; index++) {
    residualQuantiles[index] = (fromReturns * (returnQuantiles[index] - byReturns) + fromRanges * (rangeQuantiles[index] - byRanges)) / 2;
  }
  return { scale: 1, shift: 0, residualQuantiles };
}

/** Standard deviations of an h-day log return: from returns with weekday factors, and from ranges with them. */
export function computeScales(features: FeatureTable, factors: WeekdayFactors, row: number, horizonDays: M1Horizon) {
  const windowFactor = computeWindowFactor(factors, features.firstDay + row, horizonDays);
  return {
    fromReturns: computeScale(features.v94[row], features.v99[row], horizonDays * windowFactor),
    fromRanges: Math.sqrt(horizonDays * features.rangeVariance[row] * windowFactor),
  };
}

/** Every version of the model, oldest first; a new one is a file and its name here. */
const VERSIONS = [m0d1, m1] as const;

export type ModelName = (typeof VERSIONS)[number]['name'];
export const MODEL_VERSIONS: readonly (ModelVersion & { name: ModelName })[] = VERSIONS;
export const MODEL_NAMES: readonly ModelName[] = VERSIONS.map(({ name }) => name);

export function getModelVersion(name: ModelName): ModelVersion {
  return VERSIONS.find((version) => version.name === name)!;
}

/** The version of a fit such as `m1.2026-08-14`. @throws OracleError INPUT_INVALID for another name */
export function findModelVersion(modelVersion: string): ModelVersion {
  const found = VERSIONS.find(({ name }) => name === getModelName(modelVersion));
  if (found !== undefined) return found;
  throw new OracleError('INPUT_INVALID', `there is no model version ${modelVersion}`, { field: 'modelVersion' });
}

/** `m1` of `m1.2026-08-14`. */
export function getModelName(modelVersion: string): string {
  return modelVersion.slice(0, modelVersion.lastIndexOf('.'));
}

/** A version's fit of a block and horizon from that of the direction. @throws OracleError INPUT_INVALID for constant prices */
export function fitModelVersion(version: ModelVersion, direction: HorizonModel, rows: ModelRows): HorizonModel {
  return { ...version.fit(direction, rows), modelVersion: formatModelVersion(direction.block, version.name) };
}
