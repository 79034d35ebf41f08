import type { Day } from '../../day.ts';
import { BUSINESS_DAY_COLUMNS, countUntil, DAILY_COLUMNS, getLastDay, type InputFrame } from '../../input-frame.ts';
import { HORIZONS } from '../../model.ts';

/** Days sampled evenly, and how far they reach back. */
const SAMPLE_COUNT = 24;
const REACH_DAYS = 730;

/** What the report tells of a day is told when all of its forecasts are over. */
const MIN_AGE_DAYS = Math.max(...HORIZONS) + 1;

/**
 * Days of a history that a point-in-time audit should look at, ascending: samples of two years and, of each input, the newest day on
 * which reading it a day too early would show (a monthly figure changes on few days). None of a history of a few days.
 */
export function chooseAuditDays(frame: InputFrame): Day[] {
  const last = getLastDay(frame) - MIN_AGE_DAYS;
  const first = Math.max(frame.firstDay, last - REACH_DAYS);
  if (last < first) return [];
  const sampled = Array.from({ length: SAMPLE_COUNT }, (_, index) => last - Math.round((index * (last - first)) / SAMPLE_COUNT));
  const telltale = findLagSensitiveDays(frame, last).filter((day) => day >= first);
  return [...new Set([...sampled, ...telltale])].sort((a, b) => a - b);
}

function findLagSensitiveDays(frame: InputFrame, last: Day): Day[] {
  const daily = DAILY_COLUMNS.map((name) => {
    const column = frame[name];
    let row = last - frame.firstDay;
    while (row >= 0 && Object.is(column[row], column[row + 1])) row--;
    return frame.firstDay + row;
  });
  const business = BUSINESS_DAY_COLUMNS.map((name) => frame[name].days[countUntil(frame[name].days, last) - 1]);
  return [...daily, ...business.filter((day) => day !== undefined)];
}
