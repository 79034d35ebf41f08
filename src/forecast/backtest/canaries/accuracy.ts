import { computeEffectiveCount } from '../../math/effective-count.ts';
import type { OutOfSampleDay } from '../out-of-sample.ts';

/** Share of days right beyond which a figure is taken for a leak until proven otherwise. */
const SUSPICIOUS_ACCURACY = 0.6;

/** On as many independent days three standard errors of a share of one half are the ten points from there to `SUSPICIOUS`. */
const MIN_EFFECTIVE_DAYS = (3 * 0.5 * 10) ** 2;

/**
 * The most of the days of one horizon that may be right: 60 %, or where one direction was that common, its share and one standard error
 * more. Null for days too few to tell a leak from luck.
 */
export function computeAccuracyLimit(days: readonly OutOfSampleDay[], horizonDays: number): number | null {
  const effective = computeEffectiveCount(
    days.map(({ day }) => day),
    horizonDays,
  );
  if (effective < MIN_EFFECTIVE_DAYS) return null;
  const ups = computeAccuracyBy(days, () => true);
  return Math.max(SUSPICIOUS_ACCURACY, Math.max(ups, 1 - ups) + 0.5 / Math.sqrt(effective));
}

/** Share of days on which what was said is what happened. */
export function computeAccuracyBy<T extends { rose: boolean }>(days: readonly T[], saysUp: (day: T) => boolean): number {
  return days.filter((day) => saysUp(day) === day.rose).length / days.length;
}
