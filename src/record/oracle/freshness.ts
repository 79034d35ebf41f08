import { type Day, dayOf, formatDay } from '../../forecast/day.ts';
import { signalInstant } from '../../market/signal-time.ts';

/** From then on a day's forecast counts as late. */
const OVERDUE_AFTER_MS = 3 * 60_000;

export interface Freshness {
  /** Since the forecast was made. */
  ageSeconds: number;
  /** True when a newer forecast should be there. */
  stale: boolean;
  /** First day after it on which nothing was forecast, `YYYY-MM-DD`; null when none was missed. */
  missedSince: string | null;
  /** When the next forecast is due, ISO 8601. */
  nextSignalAt: string;
}

/** How old what was made on `day` is at `now`. @param lastDay last day that the record holds */
export function freshnessOf({ day, signalAt }: { day: Day; signalAt: Date }, lastDay: Day, now: Date): Freshness {
  return {
    ageSeconds: Math.max(0, Math.round((now.getTime() - signalAt.getTime()) / 1000)),
    stale: now.getTime() >= signalInstant(day + 1) + OVERDUE_AFTER_MS,
    missedSince: lastDay > day ? formatDay(day + 1) : null,
    nextSignalAt: nextSignalAt(now).toISOString(),
  };
}

/** The first signal time after `now`. */
export function nextSignalAt(now: Date): Date {
  const today = signalInstant(dayOf(now.getTime()));
  return new Date(today > now.getTime() ? today : signalInstant(dayOf(now.getTime()) + 1));
}
