import { type Day, formatDay, toInstantMs } from '../../forecast/day.ts';
import { getLastDayOfWeek, type Week } from '../../forecast/week.ts';
import { SIGNAL_TIME } from '../../market/signal-time.ts';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { StepContext } from '../deps.ts';

/** When each step of a day is due, UTC; the outcome check also runs every six hours after 00:00. */
export const STEP_TIMES = {
  brief: { hours: 3, minutes: 0 },
  signal: SIGNAL_TIME,
  attest: { hours: 21, minutes: 38 },
  wager: { hours: 21, minutes: 42 },
} as const;

/** Hours between two outcome checks, the first at 00:00 UTC. */
export const OUTCOME_CHECK_HOURS = 6;

export type DayStepName = keyof typeof STEP_TIMES;

/** When the report on a week is due, UTC, on the Monday after it: the outcome check of its last window has run by then. */
export const WEEKLY_TIME = { hours: 0, minutes: 30 } as const;

/** A step that starts this much after its time is recorded as late. */
const LATE_AFTER_MS = 3 * 60_000;

/** When a step of a day is due, in milliseconds since 1970. */
export function getStepDueMs(step: DayStepName, day: Day): number {
  const { hours, minutes } = STEP_TIMES[step];
  return toInstantMs(day, hours, minutes);
}

/** When the report on a week is due, in milliseconds since 1970. */
export function getWeeklyReportDueMs(week: Week): number {
  return toInstantMs(getLastDayOfWeek(week) + 1, WEEKLY_TIME.hours, WEEKLY_TIME.minutes);
}

/** When a day's outcome window opens, and with it the time to forecast ends. */
export function getWindowOpensMs(day: Day): number {
  return toInstantMs(day + 1);
}

export function isStepLate(step: DayStepName, day: Day, now: Date): boolean {
  return isLateForDue(getStepDueMs(step, day), now);
}

/** Whether something that was due at `dueMs` starts late. */
export function isLateForDue(dueMs: number, now: Date): boolean {
  return now.getTime() >= dueMs + LATE_AFTER_MS;
}

/** Proves that a step is due. Before its time an operator may run it by hand: then the day must have begun. Errors as `TrustedTime.reach`. */
export function requireStepDue(step: DayStepName, day: Day, { now, time }: Pick<StepContext, 'now' | 'time'>): Promise<ReachedInstant> {
  const dueMs = getStepDueMs(step, day);
  const isEarly = now.getTime() < dueMs;
  return time.requireReached(
    isEarly ? toInstantMs(day) : dueMs,
    isEarly ? `The beginning of ${formatDay(day)}` : `The ${step} of ${formatDay(day)}`,
  );
}

/** Proves that a day's outcome window has opened. Errors as `TrustedTime.reach`. */
export function requireWindowOpened(day: Day, { time }: Pick<StepContext, 'time'>): Promise<ReachedInstant> {
  return time.requireReached(getWindowOpensMs(day), `The opening of the outcome window of ${formatDay(day)}`);
}
