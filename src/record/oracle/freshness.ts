import { type Day, formatDay, toDay } from '../../forecast/day.ts';
import { getSignalTimeMs } from '../../market/signal-time.ts';

/** From then on a day's forecast counts as late. */
const OVERDUE_AFTER_MS = 3 * 60_000;

export type Freshness = ReturnType<typeof computeFreshness>;

/** How far the record and the market data reach. */
export interface RecordReach {
  /** Last day that the record holds. */
  lastDay: Day;
  /** Last day of the market data; null where it has no end. */
  lastCovered: Day | null;
}

/** How old what was made on `day` is at `now`. */
export function computeFreshness({ day, signalAt }: { day: Day; signalAt: Date }, { lastDay, lastCovered }: RecordReach, now: Date) {
  return {
    ageSeconds: Math.max(0, Math.round((now.getTime() - signalAt.getTime()) / 1000)),
    stale: now.getTime() >= getSignalTimeMs(day + 1) + OVERDUE_AFTER_MS,
    // First day after it on which nothing was forecast.
    missedSince: lastDay > day ? formatDay(day + 1) : null,
    nextSignalAt: computeNextSignalAt(now, { lastDay, lastCovered })?.toISOString() ?? null,
  };
}

/**
 * The signal time of the first day from today on that has no forecast yet: one that was made by hand before its time is for good. Null
 * beyond `lastCovered`: nothing is forecast there.
 * @param reach `lastDay`: null before the first forecast
 */
export function computeNextSignalAt(now: Date, { lastDay, lastCovered }: { lastDay: Day | null; lastCovered: Day | null }): Date | null {
  const today = toDay(now.getTime());
  const due = getSignalTimeMs(today) > now.getTime() ? today : today + 1;
  const day = lastDay === null ? due : Math.max(due, lastDay + 1);
  return lastCovered !== null && day > lastCovered ? null : new Date(getSignalTimeMs(day));
}
