import {
  buildDistribution,
  computeResidualQuantiles,
  computeScale,
  type PredictiveDistribution,
  QUANTILE_COUNT,
} from '../../distribution.ts';
import type { FeatureTable } from '../../features/feature-table.ts';
import { MIN_HISTORY_DAYS } from '../../input-frame.ts';
import { DISTRIBUTION_TRIAL_COUNT, getTrainingEnd, type HorizonDays, RESIDUAL_DAYS, TRAINING_START } from '../../model.ts';
import { m0d1 } from '../m0-d1.ts';
import type { DistributionDay, ModelRows, ModelVersion } from '../model-version.ts';
import { M1_HORIZONS, type M1Fit, type M1Horizon } from './m1-fit.ts';
import { computeWindowFactor, fitWeekdayFactors, type WeekdayFactors } from './weekday-factors.ts';

/** Standard deviations of an h-day log return: from returns with weekday factors, and from ranges with them. */
interface Scales {
  fromReturns: number;
  fromRanges: number;
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

export function computeScales(features: FeatureTable, factors: WeekdayFactors, row: number, horizonDays: M1Horizon): Scales {
  const windowFactor = computeWindowFactor(factors, features.firstDay + row, horizonDays);
  return {
    fromReturns: computeScale(features.v94[row], features.v99[row], horizonDays * windowFactor),
    fromRanges: Math.sqrt(horizonDays * features.rangeVariance[row] * windowFactor),
  };
}
