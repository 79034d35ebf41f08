import { type Day, formatDay, toInstantMs } from '../../forecast/day.ts';
import { getLastDayOfWeek, type Week } from '../../forecast/week.ts';
import { SIGNAL_TIME } from '../../market/signal-time.ts';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { StepContext } from '../deps.ts';

/** Due times of the daily steps, UTC; the outcome check runs every `OUTCOME_CHECK_HOURS` besides. */
export const STEP_TIMES = {
  brief: { hours: 3, minutes: 0 },
  signal: SIGNAL_TIME,
  attest: { hours: 21, minutes: 38 },
  wager: { hours: 21, minutes: 42 },
} as const;

export const OUTCOME_CHECK_HOURS = 6;

export type DayStepName = keyof typeof STEP_TIMES;

/** Due time of the weekly report, UTC, on the Monday after: the outcome check of the last window has run by then. */
export const WEEKLY_TIME = { hours: 0, minutes: 30 } as const;

const LATE_AFTER_MS = 3 * 60_000;

export function getStepDueMs(step: DayStepName, day: Day): number {
  const { hours, minutes } = STEP_TIMES[step];
  return toInstantMs(day, hours, minutes);
}

export function getWeeklyReportDueMs(week: Week): number {
  return toInstantMs(getLastDayOfWeek(week) + 1, WEEKLY_TIME.hours, WEEKLY_TIME.minutes);
}

/** Opening of the outcome window, which is the deadline of the forecast. */
export function getWindowOpensMs(day: Day): number {
  return toInstantMs(day + 1);
}

export function isStepLate(step: DayStepName, day: Day, now: Date): boolean {
  return isLateForDue(getStepDueMs(step, day), now);
}

export function isLateForDue(dueMs: number, now: Date): boolean {
  return now.getTime() >= dueMs + LATE_AFTER_MS;
}

/** Proves that a step is due; run manually before its time, only that the day has begun. Errors as `TrustedTime.requireReached`. */
export function requireStepDue(step: DayStepName, day: Day, { now, time }: Pick<StepContext, 'now' | 'time'>): Promise<ReachedInstant> {
  const dueMs = getStepDueMs(step, day);
  const isEarly = now.getTime() < dueMs;
  return time.requireReached(
    isEarly ? toInstantMs(day) : dueMs,
    isEarly ? `The beginning of ${formatDay(day)}` : `The ${step} of ${formatDay(day)}`,
  );
}

/** Proves that a day's outcome window has opened. Errors as `TrustedTime.requireReached`. */
export function requireWindowOpened(day: Day, { time }: Pick<StepContext, 'time'>): Promise<ReachedInstant> {
  return time.requireReached(getWindowOpensMs(day), `The opening of the outcome window of ${formatDay(day)}`);
}
