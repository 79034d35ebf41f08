import { DAY_MS, type Day } from '../../forecast/day.ts';

/** 0 is Sunday. */
function getWeekday(day: Day): number {
  return (((day + 4) % 7) + 7) % 7;
}

function isWeekend(day: Day): boolean {
  return getWeekday(day) % 6 === 0;
}

function toCalendarDate(day: Day) {
  const date = new Date(day * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, date: date.getUTCDate() };
}

/** Weekdays on which currencies and metals trade. */
export function isTradingDay(day: Day): boolean {
  if (isWeekend(day)) return false;
  const { month, date } = toCalendarDate(day);
  return !(month === 1 && date === 1) && !(month === 12 && date === 25);
}

/** Through the year 2149. */
const MAX_KEPT_DAYS = 65_536;
const OPEN = 1;
const CLOSED = 2;

/** By day; 0 where it is not computed yet. Every series that follows the calendar asks for the same days. */
const exchangeDays = new Uint8Array(MAX_KEPT_DAYS);

/** Days on which the New York Stock Exchange opens according to its regular holidays. */
export function isUsExchangeDay(day: Day): boolean {
  if (day < 0 || day >= MAX_KEPT_DAYS) return computeUsExchangeDay(day);
  exchangeDays[day] ||= computeUsExchangeDay(day) ? OPEN : CLOSED;
  return exchangeDays[day] === OPEN;
}

function computeUsExchangeDay(day: Day): boolean {
  return !isWeekend(day) && !isMovableHoliday(day) && !isFixedHoliday(day) && day !== getGoodFriday(toCalendarDate(day).year);
}

export function isFirstUsExchangeDayOfMonth(day: Day): boolean {
  const { date } = toCalendarDate(day);
  if (date > 5 || !isUsExchangeDay(day)) return false;
  for (let earlier = day - date + 1; earlier < day; earlier++) if (isUsExchangeDay(earlier)) return false;
  return true;
}

/** New Year, Juneteenth, Independence Day and Christmas; observed on Friday or Monday when they fall on a weekend. */
function isFixedHoliday(day: Day): boolean {
  const isHoliday = (candidate: Day): boolean => {
    const { year, month, date } = toCalendarDate(candidate);
    if (month === 6 && date === 19) return year >= 2022;
    return (month === 1 && date === 1) || (month === 7 && date === 4) || (month === 12 && date === 25);
  };
  const observedFriday = getWeekday(day) === 5 && isHoliday(day + 1) && toCalendarDate(day + 1).month !== 1;
  return isHoliday(day) || observedFriday || (getWeekday(day) === 1 && isHoliday(day - 1));
}

/** King's Birthday, Presidents' Day, Memorial Day, Labor Day, Thanksgiving. */
function isMovableHoliday(day: Day): boolean {
  const { month, date } = toCalendarDate(day);
  const nth = Math.ceil(date / 7);
  if (getWeekday(day) === 4) return month === 11 && nth === 4;
  if (getWeekday(day) !== 1) return false;
  return ((month === 1 || month === 2) && nth === 3) || (month === 5 && date > 24) || (month === 9 && nth === 1);
}

/** Two days before Easter Sunday, by the anonymous Gregorian computus. */
function getGoodFriday(year: number): Day {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
  const e = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - d - (c % 4)) % 7;
  const f = d + e - 7 * Math.floor((a + 11 * d + 22 * e) / 451) + 114;
  return Date.UTC(year, Math.floor(f / 31) - 1, (f % 31) + 1) / DAY_MS - 2;
}
