import { type Day, formatDay, toDay } from '../../forecast/day.ts';
import { getSignalTimeMs } from '../../market/signal-time.ts';

/** From then on a missing forecast counts as late. */
const OVERDUE_AFTER_MS = 3 * 60_000;

export type Freshness = ReturnType<typeof computeFreshness>;

export function computeFreshness(
  { day, signalAt }: { day: Day; signalAt: Date },
  { lastDay, lastCovered }: { lastDay: Day; lastCovered: Day | null },
  now: Date,
) {
  return {
    ageSeconds: Math.max(0, Math.round((now.getTime() - signalAt.getTime()) / 1000)),
    stale: now.getTime() >= getSignalTimeMs(day + 1) + OVERDUE_AFTER_MS,
    missedSince: lastDay > day ? formatDay(day + 1) : null,
    nextSignalAt: computeNextSignalAt(now, { lastDay, lastCovered })?.toISOString() ?? null,
  };
}

/** The first day from today on without a forecast: one made manually before its time is final. Null beyond `lastCovered`. */
export function computeNextSignalAt(now: Date, { lastDay, lastCovered }: { lastDay: Day | null; lastCovered: Day | null }): Date | null {
  const today = toDay(now.getTime());
  const due = getSignalTimeMs(today) > now.getTime() ? today : today + 1;
  const day = lastDay === null ? due : Math.max(due, lastDay + 1);
  return lastCovered !== null && day > lastCovered ? null : new Date(getSignalTimeMs(day));
}
