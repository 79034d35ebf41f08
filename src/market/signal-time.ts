import { type Day, instantOf } from '../forecast/day.ts';

/** Hour and minute (UTC) at which a day's inputs are fixed. */
export const SIGNAL_TIME = { hours: 21, minutes: 35 } as const;

/** 21:35 UTC of a day, in milliseconds since 1970. */
export function signalInstant(day: Day): number {
  return instantOf(day, SIGNAL_TIME.hours, SIGNAL_TIME.minutes);
}
