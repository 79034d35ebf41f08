import { type Day, instantOf } from '../forecast/day.ts';
import { SIGNAL_TIME } from '../market/signal-time.ts';

/** When each step of a day is due, UTC; the outcome check also runs every six hours after 00:00. */
export const STEP_TIMES = {
  signal: SIGNAL_TIME,
  attest: { hours: 21, minutes: 38 },
  wager: { hours: 21, minutes: 42 },
} as const;

export type DayStepName = keyof typeof STEP_TIMES;

/** A step that starts this much after its time is recorded as late. */
const LATE_AFTER_MS = 3 * 60_000;

/** When a step of a day is due, in milliseconds since 1970. */
export function stepInstant(step: DayStepName, day: Day): number {
  const { hours, minutes } = STEP_TIMES[step];
  return instantOf(day, hours, minutes);
}

/** When a day's outcome window opens, and with it the time to forecast ends. */
export function windowOpensAt(day: Day): number {
  return instantOf(day + 1);
}

export function isLate(step: DayStepName, day: Day, now: Date): boolean {
  return now.getTime() >= stepInstant(step, day) + LATE_AFTER_MS;
}
