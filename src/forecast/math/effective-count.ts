import type { Day } from '../day.ts';
import { requireAscending } from './require-ascending.ts';

/**
 * How many independent outcomes the outcomes of overlapping windows are worth: n^2 over the sum of all pairwise correlations. Two
 * windows of h days that begin k days apart share h - k days of returns; the signs of their sums are correlated by
 * (2 / pi) asin(1 - k / h), exactly so for Gaussian returns without drift. Gaps count as such.
 * @throws OracleError INPUT_INVALID unless days strictly ascend
 */
export function computeEffectiveCount(days: readonly Day[], horizonDays: number): number {
  let sum = days.length;
  for (let later = 0; later < days.length; later++) {
    if (later > 0) requireAscending(days[later - 1], days[later]);
    for (let earlier = later - 1; earlier >= 0 && days[later] - days[earlier] < horizonDays; earlier--) {
      sum += 2 * (2 / Math.PI) * Math.asin(1 - (days[later] - days[earlier]) / horizonDays);
    }
  }
  return days.length === 0 ? 0 : days.length ** 2 / sum;
}
