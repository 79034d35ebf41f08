import { countEffective } from '../../math/effective-count.ts';
import { shareOf } from '../../math/mean.ts';
import type { OutOfSampleDay } from '../out-of-sample.ts';

export const SUSPICIOUS_ACCURACY = 0.6;
/** Independent days on which three standard errors of a share of one half equal the ten points to `SUSPICIOUS_ACCURACY`. */
const MIN_EFFECTIVE_DAYS = (3 * 0.5 * 10) ** 2;

/**
 * Limit of one horizon's accuracy: 60 %, or the share of the more common direction plus one standard error if that is higher. Null with
 * too few days to distinguish a leak from luck.
 */
export function computeAccuracyLimit(days: readonly OutOfSampleDay[], horizonDays: number): number | null {
  const effective = countEffective(days, horizonDays);
  if (effective < MIN_EFFECTIVE_DAYS) return null;
  const ups = computeAccuracyBy(days, () => true);
  return Math.max(SUSPICIOUS_ACCURACY, Math.max(ups, 1 - ups) + 0.5 / Math.sqrt(effective));
}

export function computeAccuracyBy<T extends { rose: boolean }>(days: readonly T[], saysUp: (day: T) => boolean): number {
  return shareOf(days, (day) => saysUp(day) === day.rose);
}
