import { OracleError } from '../errors.ts';

/** A UTC calendar date as the number of days since 1970-01-01. */
export type Day = number;
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
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

export function formatDayOrNull(day: Day | null): string | null {
  return day === null ? null : formatDay(day);
}

export function toDay(instantMs: number): Day {
  return Math.floor(instantMs / DAY_MS);
}

/** A UTC time of a day in milliseconds since 1970. */
export function toInstantMs(day: Day, hours = 0, minutes = 0): number {
  return day * DAY_MS + (hours * 60 + minutes) * 60_000;
}

/** An ISO 8601 week, Monday to Sunday, as the day number of its Monday. */
export type Week = Day;
const WEEK_ID = /^([1-9]\d{3})-W(\d{2})$/;
const DAYS_PER_WEEK = 7;
/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 3;
/** Years of a century with 53 weeks, by century modulo 4: the calendar repeats every 400 years. */
const LONG_YEARS = [0, 1, 2, 3].map((century) => range(100).filter((year) => countWeeks(2000 + 100 * century + year) === 53));
/** Every existing week from year 1000 to 9999, as accepted by `parseWeek`. */
const LONG_YEAR = LONG_YEARS.map(buildLongYearPattern).join('|');
export const WEEK_PATTERN = new RegExp(`^(?:[1-9]\\d{3}-W(?:0[1-9]|[1-4]\\d|5[0-2])|(?:${LONG_YEAR})-W53)$`);

export function toWeek(day: Day): Week {
  return day - getWeekday(day);
}

export function getWeekday(day: Day): number {
  return (((day + EPOCH_WEEKDAY) % DAYS_PER_WEEK) + DAYS_PER_WEEK) % DAYS_PER_WEEK;
}

export function getLastDayOfWeek(week: Week): Day {
  return week + DAYS_PER_WEEK - 1;
}

/** `2026-W47`. A week belongs to the year of its Thursday. */
export function formatWeek(week: Week): string {
  const year = new Date((week + 3) * DAY_MS).getUTCFullYear();
  const number = (week - getFirstWeek(year)) / DAYS_PER_WEEK + 1;
  return `${year}-W${String(number).padStart(2, '0')}`;
}

/** Parses `2026-W47`. @throws OracleError INPUT_INVALID for other text and nonexistent weeks */
export function parseWeek(text: string): Week {
  const [, year, number] = WEEK_ID.exec(text) ?? [];
  const week = year === undefined ? Number.NaN : getFirstWeek(Number(year)) + (Number(number) - 1) * DAYS_PER_WEEK;
  if (!Number.isNaN(week) && formatWeek(week) === text) return week;
  const message = 'A week is an ISO year and week number such as 2026-W07; a year has 52 or 53 weeks';
  throw new OracleError('INPUT_INVALID', message, { field: 'weekId' });
}

/** 4 January is always in the first week. */
function getFirstWeek(year: number): Week {
  return toWeek(toDay(Date.UTC(year, 0, 4)));
}

function countWeeks(year: number): number {
  return (getFirstWeek(year + 1) - getFirstWeek(year)) / DAYS_PER_WEEK;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}

function buildLongYearPattern(years: readonly number[], remainder: number): string {
  const twoDigits = (numbers: readonly number[]) => numbers.map((number) => String(number).padStart(2, '0')).join('|');
  const centuries = range(100).filter((century) => century >= 10 && century % 4 === remainder);
  return `(?:${twoDigits(centuries)})(?:${twoDigits(years)})`;
}

/** `2026-11-22 21:35 UTC` for an ISO 8601 time. */
export function formatUtc(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}
