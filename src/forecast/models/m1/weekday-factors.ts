import type { Day } from '../../day.ts';
import { computeScale } from '../../distribution.ts';
import type { FeatureTable } from '../../features/feature-table.ts';
import { mean } from '../../math/mean.ts';

const WEEK_DAYS = 7;
/** Observations of the mean factor 1 that each weekday's own is shrunk by. */
const PSEUDO_COUNT = 26;

/** Factors of the daily variance, Monday to Sunday; their mean is 1. */
export type WeekdayFactors = readonly number[];

/** 0 for Monday to 6 for Sunday, UTC. */
export function getWeekday(day: Day): number {
  return (((day + 3) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS;
}

/** Factors from the absolute returns over their scale of the rows `from` (inclusive) to `to` (exclusive). */
export function fitWeekdayFactors(closes: Float64Array, { firstDay, v94, v99 }: FeatureTable, from: number, to: number): WeekdayFactors {
  const byWeekday: number[][] = Array.from({ length: WEEK_DAYS }, () => []);
  for (let row = from; row < to; row++) {
    const size = Math.abs(Math.log(closes[row] / closes[row - 1])) / computeScale(v94[row - 1], v99[row - 1], 1);
    byWeekday[getWeekday(firstDay + row)]!.push(size);
  }
  const overall = mean(byWeekday.flat());
  const factors = byWeekday.map((sizes) => {
    const ratio = mean(sizes) / overall;
    return (sizes.length * ratio ** 2 + PSEUDO_COUNT) / (sizes.length + PSEUDO_COUNT);
  });
  return factors.map((factor) => factor / mean(factors));
}

/** Mean factor of the `horizonDays` days after `day`. */
export function computeWindowFactor(factors: WeekdayFactors, day: Day, horizonDays: number): number {
  return mean(Array.from({ length: horizonDays }, (_, index) => factors[getWeekday(day + index + 1)]!));
}
