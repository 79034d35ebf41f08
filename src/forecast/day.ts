import { OracleError } from '../platform/errors.ts';

/** A UTC calendar date as the number of days since 1970-01-01. */
export type Day = number;
export const DAY_MS = 86_400_000;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Parses `YYYY-MM-DD`. @throws OracleError INPUT_INVALID for other text and impossible dates */
export function parseDay(text: string): Day {
  const day = ISO_DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) / DAY_MS : Number.NaN;
  if (!Number.isInteger(day) || formatDay(day) !== text) {
    throw new OracleError('INPUT_INVALID', `"${text}" is not a date of the form YYYY-MM-DD`, { field: 'date' });
  }
  return day;
}

/** `YYYY-MM-DD`. */
export function formatDay(day: Day): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

export function toDay(instantMs: number): Day {
  return Math.floor(instantMs / DAY_MS);
}

/** A UTC time of a day in milliseconds since 1970. */
export function toInstantMs(day: Day, hours = 0, minutes = 0): number {
  return day * DAY_MS + (hours * 60 + minutes) * 60_000;
}
