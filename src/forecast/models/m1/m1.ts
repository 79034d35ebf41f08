import {
  buildDistribution,
  computeResidualQuantiles,
  computeScale,
  type PredictiveDistribution,
  QUANTILE_COUNT,
  quantile,
} from '../../distribution.ts';
import type { FeatureTable } from '../../features/feature-table.ts';
import { RESIDUAL_DAYS } from '../../fit/walk-forward.ts';
import { getTrainingEnd, type HorizonDays, TRAINING_START } from '../../model.ts';
import { computeWindowFactor, fitWeekdayFactors, type WeekdayFactors } from './weekday-factors.ts';

/** Horizons in days at which the model differs from `m0-d1`: at 7 days the last look found no gain. */
export const M1_HORIZONS = [1, 2, 3] as const satisfies HorizonDays[];
export type M1Horizon = (typeof M1_HORIZONS)[number];

/** Closes, features and range variances of the same days. */
export interface M1Data {
  closes: Float64Array;
  features: FeatureTable;
  /** As of `computeRangeVariance`. */
  rangeVariance: Float64Array;
}

/** One fit: all parameters needed to forecast the days of its block. */
export interface M1Fit {
  horizonDays: M1Horizon;
  weekdayFactors: WeekdayFactors;
  /** 199 quantiles, at .005 to .995, of h-day log returns over the scale from returns, and over the scale from ranges. */
  returnQuantiles: readonly number[];
  rangeQuantiles: readonly number[];
}

/** Standard deviations of an h-day log return: from returns with weekday factors, and from ranges with them. */
interface Scales {
  fromReturns: number;
  fromRanges: number;
}

/** The parameters of a block; reads nothing after its training days. @throws OracleError INPUT_INVALID for constant prices */
export function fitM1(data: M1Data, block: number, horizonDays: M1Horizon): M1Fit {
  const { closes, features } = data;
  const to = getTrainingEnd(block, horizonDays) - features.firstDay;
  const from = Math.max(TRAINING_START - features.firstDay, to - RESIDUAL_DAYS);
  const weekdayFactors = fitWeekdayFactors(closes, features, Math.max(from, TRAINING_START + 1 - features.firstDay), to);
  const returns = new Float64Array(to - from);
  const ranges = new Float64Array(to - from);
  for (let row = from; row < to; row++) {
    const scales = computeScales(data, weekdayFactors, row, horizonDays);
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

/** The distribution of a row's h-day log return with P(return > 0) = `pUp`: the mean of the quantiles by both scales. */
export function buildM1Distribution(fit: M1Fit, data: M1Data, row: number, pUp: number): PredictiveDistribution {
  const { fromReturns, fromRanges } = computeScales(data, fit.weekdayFactors, row, fit.horizonDays);
  const parts = [
    buildDistribution({ residualQuantiles: fit.returnQuantiles, scale: fromReturns, pUp }),
    buildDistribution({ residualQuantiles: fit.rangeQuantiles, scale: fromRanges, pUp }),
  ];
  const levels = Array.from({ length: QUANTILE_COUNT }, (_, index) => (index + 1) / (QUANTILE_COUNT + 1));
  const residualQuantiles = levels.map((level) => parts.reduce((sum, part) => sum + quantile(part, level), 0) / parts.length);
  return { scale: 1, shift: 0, residualQuantiles };
}

export function computeScales(
  { features, rangeVariance }: Omit<M1Data, 'closes'>,
  factors: WeekdayFactors,
  row: number,
  horizonDays: M1Horizon,
): Scales {
  const windowFactor = computeWindowFactor(factors, features.firstDay + row, horizonDays);
  return {
    fromReturns: computeScale(features.v94[row], features.v99[row], horizonDays * windowFactor),
    fromRanges: Math.sqrt(horizonDays * rangeVariance[row] * windowFactor),
  };
}
