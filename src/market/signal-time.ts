import { type Day, toInstantMs } from '../forecast/day.ts';

/** Hour and minute (UTC) at which a day's inputs are fixed. */
export const SIGNAL_TIME = { hours: 21, minutes: 35 } as const;

export function getSignalTimeMs(day: Day): number {
  return toInstantMs(day, SIGNAL_TIME.hours, SIGNAL_TIME.minutes);
}
