import type { Day } from '../../day.ts';
import { BUSINESS_DAY_COLUMNS, countUntil, DAILY_COLUMNS, getLastDay, type InputFrame } from '../../input-frame.ts';
import { HORIZONS } from '../../model.ts';

/** Evenly sampled days, and the period that they cover. */
const SAMPLE_COUNT = 24;
const REACH_DAYS = 730;
/** The report names features of these days, so that all their forecasts must be resolved. */
const MIN_AGE_DAYS = Math.max(...HORIZONS) + 1;

/**
 * Days for a point-in-time audit, ascending: samples of two years and, for each input, the newest day on which reading it a day early
 * makes a difference (a monthly figure changes on few days). Empty for a history of a few days.
 */
export function chooseAuditDays(frame: InputFrame): Day[] {
  const last = getLastDay(frame) - MIN_AGE_DAYS;
  const first = Math.max(frame.firstDay, last - REACH_DAYS);
  if (last < first) return [];
  const sampled = Array.from({ length: SAMPLE_COUNT }, (_, index) => last - Math.round((index * (last - first)) / SAMPLE_COUNT));
  const sensitive = findLagSensitiveDays(frame, last).filter((day) => day >= first);
  return [...new Set([...sampled, ...sensitive])].sort((a, b) => a - b);
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
