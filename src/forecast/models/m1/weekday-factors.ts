import type { Day } from '../../day.ts';
import { computeScale } from '../../distribution.ts';
import type { FeatureTable } from '../../features/feature-table.ts';
import { mean } from '../../math/mean.ts';
import { getWeekday } from '../../week.ts';

const WEEK_DAYS = 7;
/** Observations of the mean factor 1 that each weekday's own is shrunk by. */
const PSEUDO_COUNT = 26;

/** Factors of the daily variance, Monday to Sunday; their mean is 1. */
export type WeekdayFactors = readonly number[];

/** Factors from the absolute returns over their scale of the rows `from` (inclusive) to `to` (exclusive). */
export function fitWeekdayFactors(closes: Float64Array, { firstDay, v94, v99 }: FeatureTable, from: number, to: number): WeekdayFactors {
  const sums = new Float64Array(WEEK_DAYS);
  const counts = new Float64Array(WEEK_DAYS);
  for (let row = from; row < to; row++) {
    const weekday = getWeekday(firstDay + row);
    sums[weekday] += Math.abs(Math.log(closes[row] / closes[row - 1])) / computeScale(v94[row - 1], v99[row - 1], 1);
    counts[weekday]++;
  }
  const overall = (mean(sums) * WEEK_DAYS) / (to - from);
  const factors = Array.from(sums, (sum, weekday) => {
    const n = counts[weekday];
    return (n * (sum / n / overall) ** 2 + PSEUDO_COUNT) / (n + PSEUDO_COUNT);
  });
  const average = mean(factors);
  return factors.map((factor) => factor / average);
}

/** Mean factor of the `horizonDays` days after `day`. */
export function computeWindowFactor(factors: WeekdayFactors, day: Day, horizonDays: number): number {
  const today = getWeekday(day);
  let sum = 0;
  for (let ahead = 1; ahead <= horizonDays; ahead++) sum += factors[(today + ahead) % WEEK_DAYS];
  return sum / horizonDays;
}
