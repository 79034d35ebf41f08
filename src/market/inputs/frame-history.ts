import { type Day, formatDay } from '../../forecast/day.ts';
import { computeParkinson } from '../../forecast/features/range-variance.ts';
import {
  BUSINESS_DAY_COLUMNS,
  type BusinessDayColumn,
  DAILY_COLUMNS,
  type DailyColumn,
  type InputFrame,
} from '../../forecast/input-frame.ts';
import { OracleError } from '../../platform/errors.ts';
import type { PriceRange } from '../feed.ts';
import { allocateFloat64, createGrowableColumn, type GrowableColumn } from '../series/growable-column.ts';
import { countUpTo, findLastKnownIndex, type Observations } from '../series/observations.ts';
import { SERIES } from '../series/series.ts';
import { getSignalTimeMs } from '../signal-time.ts';
import { createEtfFlowFilter } from './etf-flow-filter.ts';

/** Business-day observations start this many days before the first row, as lookback of its features. */
const BUSINESS_DAY_LOOKBACK_DAYS = 412;
export type FrameObservations = Record<DailyColumn | BusinessDayColumn, Observations>;

interface FrameRequest {
  /** Day of the last row, which holds values known by `atMs` and by 21:35 UTC. */
  day: Day;
  atMs: number;
  /** BTC/USD in the last row. */
  lastClose: number;
  /** High and low in the last row; null where there are none, or not a plausible pair. */
  lastRange: PriceRange | null;
  observations: FrameObservations;
}

export type FrameHistory = ReturnType<typeof createFrameHistory>;
/** The price columns of a row. */
type PriceRow = Pick<Record<DailyColumn, number>, 'close' | 'high' | 'low'>;
type RowReader = (column: DailyColumn) => number;
type FrameColumns = Record<DailyColumn, GrowableColumn<Float64Array>>;

/** Incremental input frames of one feed: a frame costs a copy of its rows instead of a lookup of every observation. */
export function createFrameHistory(firstDay: Day) {
  const columns = Object.fromEntries(DAILY_COLUMNS.map((column) => [column, createGrowableColumn(allocateFloat64)])) as FrameColumns;
  const etfFlowFilter = createEtfFlowFilter();

  function createFinishedRow(row: Day, observations: FrameObservations): RowReader {
    const close = observations.close.values[requireCloseIndex(observations.close, row)];
    const range = findRange(observations, row, getSignalTimeMs(row + 1));
    return createRowReader(row, getSignalTimeMs(row), observations, toPriceRow(close, range));
  }

  /** Appends the rows before `day - 1`, which are final: the range of a day may become known until the next signal. */
  function extendTo(day: Day, observations: FrameObservations): void {
    for (let row = firstDay + columns.close.length; row < day - 1; row++) {
      const valueIn = createFinishedRow(row, observations);
      for (const column of DAILY_COLUMNS) columns[column].push(valueIn(column));
    }
  }

  return {
    /** @throws OracleError HISTORY_TOO_SHORT, or PRICE_UNAVAILABLE when a day before the last has no close */
    buildFrame({ day, atMs, lastClose, lastRange, observations: raw }: FrameRequest) {
      requireCoveredDay(day, firstDay);
      const observations = { ...raw, etfFlow: etfFlowFilter.update(raw.etfFlow, raw.sp500) };
      extendTo(day, observations);
      const knownAtMs = Math.min(atMs, getSignalTimeMs(day));
      const lastRow = createRowReader(day, knownAtMs, observations, toPriceRow(lastClose, lastRange));
      const newest = day === firstDay ? [lastRow] : [createFinishedRow(day - 1, observations), lastRow];
      const daily = copyRows(columns, day - firstDay + 1, newest);
      const business = BUSINESS_DAY_COLUMNS.map((column) => [column, sliceBusinessDays(observations[column], firstDay, day, knownAtMs)]);
      return { frame: { firstDay, ...daily, ...Object.fromEntries(business) } as InputFrame, observations };
    },
  };
}

function requireCoveredDay(day: Day, firstDay: Day): void {
  if (day >= firstDay) return;
  throw new OracleError('HISTORY_TOO_SHORT', `No history on ${formatDay(day)}: prices begin on ${formatDay(firstDay)}`);
}

/** @throws OracleError PRICE_UNAVAILABLE when the day has no close */
export function requireCloseIndex({ days, source }: Observations, day: Day): number {
  const index = countUpTo(days, day) - 1;
  if (index >= 0 && days[index] === day) return index;
  throw new OracleError('PRICE_UNAVAILABLE', `No daily close of ${formatDay(day)} from ${source} yet`);
}

/** The range of a day known at an instant; null without a plausible one. */
export function findRange({ high, low }: Pick<FrameObservations, 'high' | 'low'>, day: Day, knownAtMs: number): PriceRange | null {
  const [highIndex, lowIndex] = [findLastKnownIndex(high, day, knownAtMs), findLastKnownIndex(low, day, knownAtMs)];
  if (highIndex < 0 || lowIndex < 0 || high.days[highIndex] !== day || low.days[lowIndex] !== day) return null;
  return keepPlausible({ highUsd: high.values[highIndex], lowUsd: low.values[lowIndex] });
}

export function keepPlausible(range: PriceRange | null): PriceRange | null {
  return range === null || computeParkinson(range.highUsd, range.lowUsd) === null ? null : range;
}

function toPriceRow(close: number, range: PriceRange | null): PriceRow {
  return { close, high: range?.highUsd ?? Number.NaN, low: range?.lowUsd ?? Number.NaN };
}

function createRowReader(day: Day, knownAtMs: number, observations: FrameObservations, prices: PriceRow): RowReader {
  return (column) => {
    if (column === 'close' || column === 'high' || column === 'low') return prices[column];
    const { lagDays, staleDays } = SERIES[column];
    const index = findLastKnownIndex(observations[column], day - lagDays, knownAtMs);
    const fresh = index >= 0 && day - observations[column].days[index] <= staleDays;
    return fresh ? observations[column].values[index] : Number.NaN;
  };
}

/** Copies the final rows and adds the newest ones, so a returned frame never changes when the history grows. */
function copyRows(columns: FrameColumns, length: number, newest: readonly RowReader[]): Record<DailyColumn, Float64Array> {
  const storage = new Float64Array(DAILY_COLUMNS.length * length);
  const count = length - newest.length;
  const entries = DAILY_COLUMNS.map((column, index) => {
    const copy = storage.subarray(index * length, (index + 1) * length);
    copy.set(columns[column].view().subarray(0, count));
    for (const [offset, valueIn] of newest.entries()) copy[count + offset] = valueIn(column);
    return [column, copy];
  });
  return Object.fromEntries(entries) as Record<DailyColumn, Float64Array>;
}

function sliceBusinessDays({ days, values, availableAt }: Observations, firstDay: Day, day: Day, knownAtMs: number) {
  const start = countUpTo(days, firstDay - BUSINESS_DAY_LOOKBACK_DAYS - 1);
  const end = Math.max(start, countUpTo(availableAt, knownAtMs, countUpTo(days, day - 1)));
  return { days: days.subarray(start, end), values: values.subarray(start, end) };
}
