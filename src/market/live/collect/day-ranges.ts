import { type Day, parseDay } from '../../../forecast/day.ts';
import type { DayRange, SeriesSource } from '../sources/source.ts';

type HistoryReach = Pick<SeriesSource, 'history'>;

export function getFirstDay({ history }: HistoryReach, today: Day): Day {
  return 'from' in history ? parseDay(history.from) : today - history.days;
}

/** Splits a range into pages of at most `pageDays` days, oldest first. */
export function splitRange({ from, to }: DayRange, pageDays: number): DayRange[] {
  const pages: DayRange[] = [];
  for (let start = from; start <= to; start += pageDays) pages.push({ from: start, to: Math.min(to, start + pageDays - 1) });
  return pages;
}

export function clampToReach(source: HistoryReach, { from, to }: DayRange, today: Day): DayRange | null {
  const start = Math.max(from, getFirstDay(source, today));
  return start <= to ? { from: start, to } : null;
}
