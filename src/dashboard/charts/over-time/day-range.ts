/** The number of days that charts over time show. */

const ALL_DAYS = Number.POSITIVE_INFINITY;
export const DAY_RANGES: readonly number[] = [30, 90, 365, ALL_DAYS];
const DEFAULT_RANGE = 90;
const STORAGE_KEY = 'oracle-chart-days';

export type DayRange = ReturnType<typeof createDayRange>;

/** One choice for all charts, kept for the session. */
export function createDayRange(storage: Pick<Storage, 'getItem' | 'setItem'>) {
  const listeners = new Map<string, () => void>();
  let value = parseRange(storage.getItem(STORAGE_KEY));
  return {
    get value() {
      return value;
    },
    set(next: number) {
      value = next;
      storage.setItem(STORAGE_KEY, String(next));
      for (const listener of listeners.values()) listener();
    },
    /** Replaces the listener of the same chart, as a section that is drawn again has a new one. */
    follow(chart: string, listener: () => void) {
      listeners.set(chart, listener);
    },
  };
}

let shared: DayRange | null = null;

export function getDayRange() {
  shared ??= createDayRange(sessionStorage);
  return shared;
}

function parseRange(text: string | null) {
  return DAY_RANGES.find((range) => String(range) === text) ?? DEFAULT_RANGE;
}

/** Whether a range leaves out any of so many days. */
export function isRangeUseful(range: number, days: number) {
  return range === ALL_DAYS || range < days;
}

/** The chosen range, or all days where the record is shorter. */
export function resolveRange(range: number, days: number) {
  return isRangeUseful(range, days) ? range : ALL_DAYS;
}

interface SelectDaysOptions<Point> {
  /** Ascending. */
  points: readonly Point[];
  range: number;
  /** Day at which the range ends; later points are all kept. */
  lastDay: number;
}

/** The points of the last days, the first day of these, and the point before. */
export function selectDays<Point extends { day: number }>({ points, range, lastDay }: SelectDaysOptions<Point>) {
  const from = lastDay - range + 1;
  const start = points.findIndex(({ day }) => day >= from);
  return start === -1
    ? { shown: [], from, before: points.at(-1) ?? null }
    : { shown: points.slice(start), from, before: points[start - 1] ?? null };
}

export function formatRange(range: number) {
  return range === ALL_DAYS ? 'All days' : `${range} days`;
}
