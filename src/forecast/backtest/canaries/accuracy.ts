import { effectiveCount } from '../../statistics/effective-count.ts';
import type { OutOfSampleDay } from '../out-of-sample.ts';

/** Share of days right beyond which a figure is taken for a leak until proven otherwise. */
const SUSPICIOUS = 0.6;

/** On as many independent days three standard errors of a share of one half are the ten points from there to `SUSPICIOUS`. */
const LEAST_EFFECTIVE = (3 * 0.5 * 10) ** 2;

/**
 * The most of the days of one horizon that may be right: 60 %, or where one direction was that common, its share and one standard error
 * more. Null for days too few to tell a leak from luck.
 */
export function accuracyLimit(days: readonly OutOfSampleDay[], horizonDays: number): number | null {
  const effective = effectiveCount(
    days.map(({ day }) => day),
    horizonDays,
  );
  if (effective < LEAST_EFFECTIVE) return null;
  const ups = shareRight(days, () => true);
  return Math.max(SUSPICIOUS, Math.max(ups, 1 - ups) + 0.5 / Math.sqrt(effective));
}

/** Share of days on which what was said is what happened. */
export function shareRight<T extends { rose: boolean }>(days: readonly T[], saysUp: (day: T) => boolean): number {
  return days.filter((day) => saysUp(day) === day.rose).length / days.length;
}
