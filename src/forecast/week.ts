import { OracleError } from '../errors.ts';
import { DAY_MS, type Day, dayOf } from './day.ts';

/** An ISO 8601 week, Monday to Sunday, as the day number of its Monday. */
export type Week = Day;

const WEEK_ID = /^([1-9]\d{3})-W(\d{2})$/;
const DAYS = 7;
/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 3;

/** The week that a day lies in. */
export function weekOf(day: Day): Week {
  return day - weekdayOf(day);
}

/** Days since Monday, 0 to 6. */
export function weekdayOf(day: Day): number {
  return (((day + EPOCH_WEEKDAY) % DAYS) + DAYS) % DAYS;
}

/** The Sunday that ends a week. */
export function lastDayOfWeek(week: Week): Day {
  return week + DAYS - 1;
}

/** `2026-W47`. A week belongs to the year that its Thursday lies in, which is the year of most of its days. */
export function formatWeek(week: Week): string {
  const year = new Date((week + 3) * DAY_MS).getUTCFullYear();
  const number = (week - firstWeekOf(year)) / DAYS + 1;
  return `${year}-W${String(number).padStart(2, '0')}`;
}

/**
 * Reads `2026-W47`.
 * @throws OracleError INPUT_INVALID for anything else, weeks that a year does not have included.
 */
export function parseWeek(text: string): Week {
  const [, year, number] = WEEK_ID.exec(text) ?? [];
  const week = year === undefined ? Number.NaN : firstWeekOf(Number(year)) + (Number(number) - 1) * DAYS;
  if (Number.isNaN(week) || formatWeek(week) !== text) {
    throw new OracleError('INPUT_INVALID', 'A week is written as its ISO year and number, e.g. 2026-W07, of 52 or 53 in a year', {
      field: 'weekId',
    });
  }
  return week;
}

/** 4 January is always in the first week. */
function firstWeekOf(year: number): Week {
  return weekOf(dayOf(Date.UTC(year, 0, 4)));
}
