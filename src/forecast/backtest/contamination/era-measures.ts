import { brierScore } from '../../scoring.ts';
import { directionOf } from '../../signal.ts';
import { blockBootstrap } from '../../statistics/block-bootstrap.ts';
import type { Difference } from '../../statistics/call-statistics.ts';
import { dailyColumn } from '../../statistics/scored-forecast.ts';
import type { OutOfSampleDay } from '../out-of-sample.ts';

/** A figure that is made of two sums over days. */
interface Measure {
  upper(day: OutOfSampleDay): number;
  lower(day: OutOfSampleDay): number;
  value(upper: number, lower: number): number;
}

const isRight = ({ pUp, rose }: OutOfSampleDay) => (directionOf(pUp) === 'UP') === rose;
const mean = (upper: number, lower: number) => upper / lower;
const skill = (upper: number, lower: number) => 1 - upper / lower;

/** What eras and regimes are compared by; of each more is better. */
export const MEASURES = {
  accuracy: { upper: (day) => Number(isRight(day)), lower: () => 1, value: mean },
  edge: { upper: (day) => Number(isRight(day)) - Number(day.rose), lower: () => 1, value: mean },
  brierSkill: {
    upper: ({ pUp, rose }) => brierScore(pUp, rose),
    lower: ({ climatology, rose }) => brierScore(climatology, rose),
    value: skill,
  },
  crpsSkill: { upper: ({ distribution }) => distribution.crps, lower: ({ climatologyCrps }) => climatologyCrps, value: skill },
} as const satisfies Record<string, Measure>;

export type MeasureName = keyof typeof MEASURES;

/** A measure over some days, with its 95 % interval by the block bootstrap; null where it cannot be told. */
export function measured(days: readonly OutOfSampleDay[], name: MeasureName): Difference | null {
  const { upper, lower, value } = MEASURES[name];
  return estimate([dailyColumn(days, upper), dailyColumn(days, lower)], ([above, below]) => value(above, below));
}

/** A measure of the days from `split` on minus that of the days before, resampled together. */
export function measuredDifference(days: readonly OutOfSampleDay[], split: number, name: MeasureName): Difference | null {
  const { upper, lower, value } = MEASURES[name];
  const column = (of: Measure['upper'], isLater: boolean) => dailyColumn(days, (one) => (one.day >= split === isLater ? of(one) : 0));
  const columns = [column(upper, true), column(lower, true), column(upper, false), column(lower, false)];
  return estimate(columns, ([above, below, aboveBefore, belowBefore]) => value(above, below) - value(aboveBefore, belowBefore));
}

function estimate(columns: readonly Float64Array[], statistic: (sums: Float64Array) => number): Difference | null {
  const value = statistic(Float64Array.from(columns, (column) => column.reduce((sum, one) => sum + one, 0)));
  if (!Number.isFinite(value)) return null;
  const interval = blockBootstrap({ columns, statistic });
  return { value, low: interval?.low ?? null, high: interval?.high ?? null };
}
