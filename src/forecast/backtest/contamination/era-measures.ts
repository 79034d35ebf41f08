import { type BootstrapOptions, bootstrapEstimate, type IntervalEstimate } from '../../math/block-bootstrap.ts';
import { brierScore } from '../../scoring.ts';
import { toDailyColumn } from '../../statistics/scored-forecast.ts';
import { isDirectionRight, type OutOfSampleDay } from '../out-of-sample.ts';

interface Measure {
  upper(day: OutOfSampleDay): number;
  lower(day: OutOfSampleDay): number;
  /** Whether only days with `upper` other than 0 are informative. Default: all are. */
  byUpper?: boolean;
  value(upper: number, lower: number): number;
}

const ratio = (upper: number, lower: number) => upper / lower;
const skillRatio = (upper: number, lower: number) => 1 - upper / lower;

/** Measures that eras and regimes are compared by; higher is better. */
const MEASURES = {
  accuracy: { upper: (day) => Number(isDirectionRight(day)), lower: () => 1, value: ratio },
  edge: { upper: (day) => Number(isDirectionRight(day)) - Number(day.rose), lower: () => 1, value: ratio, byUpper: true },
  brierSkill: { upper: (day) => brierScore(day.pUp, day.rose), lower: (day) => brierScore(day.climatology, day.rose), value: skillRatio },
  crpsSkill: { upper: ({ distribution }) => distribution.crps, lower: ({ climatologyCrps }) => climatologyCrps, value: skillRatio },
  recentCrpsSkill: { upper: ({ distribution }) => distribution.crps, lower: ({ recentCrps }) => recentCrps, value: skillRatio },
} satisfies Record<string, Measure>;

export type MeasureName = keyof typeof MEASURES;

/** A measure with its 95 % bootstrap interval; null where it is undefined. */
export function measureDays(days: readonly OutOfSampleDay[], name: MeasureName): IntervalEstimate | null {
  const { upper, lower, value, byUpper }: Measure = MEASURES[name];
  const columns = [toDailyColumn(days, upper), toDailyColumn(days, lower)];
  const informative = byUpper ? columns[0] : undefined;
  return estimateWithInterval({ columns, statistic: ([above, below]) => value(above, below), informative });
}

/** A measure of the days from `split` on minus that of the days before, resampled jointly. */
export function measureEraDifference(days: readonly OutOfSampleDay[], split: number, name: MeasureName): IntervalEstimate | null {
  const { upper, lower, value }: Measure = MEASURES[name];
  const column = (of: Measure['upper'], isLater: boolean) => toDailyColumn(days, (one) => (one.day >= split === isLater ? of(one) : 0));
  const columns = [column(upper, true), column(lower, true), column(upper, false), column(lower, false)];
  const statistic = ([above, below, aboveBefore, belowBefore]: Float64Array) => value(above, below) - value(aboveBefore, belowBefore);
  return estimateWithInterval({ columns, statistic });
}

function estimateWithInterval(resampling: BootstrapOptions & { columns: readonly Float64Array[] }): IntervalEstimate | null {
  const { columns, statistic } = resampling;
  const value = statistic(Float64Array.from(columns, (column) => column.reduce((sum, one) => sum + one, 0)));
  if (!Number.isFinite(value)) return null;
  return bootstrapEstimate(value, resampling);
}
