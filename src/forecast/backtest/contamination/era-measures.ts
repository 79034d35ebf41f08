import { brierScore } from '../../scoring.ts';
import { directionOf } from '../../signal.ts';
import { blockBootstrap, type Resampling } from '../../statistics/block-bootstrap.ts';
import type { Difference } from '../../statistics/call-statistics.ts';
import { dailyColumn } from '../../statistics/scored-forecast.ts';
import type { OutOfSampleDay } from '../out-of-sample.ts';

/** A figure that is made of two sums over days. */
interface Measure {
  upper(day: OutOfSampleDay): number;
  lower(day: OutOfSampleDay): number;
  /** Whether only days on which `upper` is not 0 bear on it. Default: all do. */
  byUpper?: boolean;
  value(upper: number, lower: number): number;
}

const isRight = ({ pUp, rose }: OutOfSampleDay) => (directionOf(pUp) === 'UP') === rose;
const mean = (upper: number, lower: number) => upper / lower;
const skill = (upper: number, lower: number) => 1 - upper / lower;

/** What eras and regimes are compared by; of each more is better. */
const MEASURES = {
  accuracy: { upper: (day) => Number(isRight(day)), lower: () => 1, value: mean },
  edge: { upper: (day) => Number(isRight(day)) - Number(day.rose), lower: () => 1, value: mean, byUpper: true },
  brierSkill: {
    upper: ({ pUp, rose }) => brierScore(pUp, rose),
    lower: ({ climatology, rose }) => brierScore(climatology, rose),
    value: skill,
  },
  crpsSkill: { upper: ({ distribution }) => distribution.crps, lower: ({ climatologyCrps }) => climatologyCrps, value: skill },
  recentCrpsSkill: { upper: ({ distribution }) => distribution.crps, lower: ({ recentCrps }) => recentCrps, value: skill },
} satisfies Record<string, Measure>;

export type MeasureName = keyof typeof MEASURES;

/** A measure over some days, with its 95 % interval by the block bootstrap; null where it cannot be told. */
export function measured(days: readonly OutOfSampleDay[], name: MeasureName): Difference | null {
  const { upper, lower, value, byUpper }: Measure = MEASURES[name];
  const columns = [dailyColumn(days, upper), dailyColumn(days, lower)];
  return estimate({ columns, statistic: ([above, below]) => value(above, below), bearing: byUpper ? columns[0] : undefined });
}

/** A measure of the days from `split` on minus that of the days before, resampled together. */
export function measuredDifference(days: readonly OutOfSampleDay[], split: number, name: MeasureName): Difference | null {
  const { upper, lower, value }: Measure = MEASURES[name];
  const column = (of: Measure['upper'], isLater: boolean) => dailyColumn(days, (one) => (one.day >= split === isLater ? of(one) : 0));
  const columns = [column(upper, true), column(lower, true), column(upper, false), column(lower, false)];
  const statistic = ([above, below, aboveBefore, belowBefore]: Float64Array) => value(above, below) - value(aboveBefore, belowBefore);
  return estimate({ columns, statistic });
}

function estimate(resampling: Resampling & { columns: readonly Float64Array[] }): Difference | null {
  const { columns, statistic } = resampling;
  const value = statistic(Float64Array.from(columns, (column) => column.reduce((sum, one) => sum + one, 0)));
  if (!Number.isFinite(value)) return null;
  const interval = blockBootstrap(resampling);
  return { value, low: interval?.low ?? null, high: interval?.high ?? null };
}
