import { OracleError } from '../../platform/errors.ts';
import { type Day, formatDay } from '../day.ts';

/**
 * Effective sample size of outcomes with overlapping windows: n^2 over the sum of all pairwise correlations. Two windows of h days that
 * begin k days apart share h - k daily returns; the correlation of their signs is (2 / pi) asin(1 - k / h) for driftless Gaussian returns.
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

export function countEffective(forecasts: readonly { day: Day }[], horizonDays: number): number {
  return computeEffectiveCount(
    forecasts.map(({ day }) => day),
    horizonDays,
  );
}

/** @throws OracleError INPUT_INVALID unless `day` is after `before` */
export function requireAscending(before: Day, day: Day): void {
  if (day > before) return;
  throw new OracleError('INPUT_INVALID', `${formatDay(day)} does not come after ${formatDay(before)}`, { field: 'day' });
}
