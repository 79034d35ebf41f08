import { OracleError } from '../platform/errors.ts';
import { type Day, formatDay } from './day.ts';

/**
 * Everything the forecast may look at, as known at 21:35 UTC of each day. Row `i` belongs to day `firstDay + i`; the rows are
 * consecutive days. `NaN` marks a masked value (missing, stale or not yet published). The lags are already applied in the daily
 * columns. Business-day series hold raw observations by their own date; a forecast of day t reads those dated t-1 or earlier.
 * Later rows never change what earlier rows say, so that a prefix (`sliceFrame`) is exactly what was known then.
 */
export interface InputFrame {
  firstDay: Day;
  /** BTC/USD close; the last row may hold the price at signal time instead. Never masked, always > 0. */
  close: Float64Array;
  /** Crypto Fear & Greed index, 0 to 100. */
  fearGreed: Float64Array;
  /** Realized price in USD, of the day before. */
  realizedPrice: Float64Array;
  /** Taker buy share of spot volume, 0 to 1, of the day before. */
  takerBuyFraction: Float64Array;
  /** Perpetual funding rate (fraction per 8 h), of the day before. */
  fundingRate: Float64Array;
  /** Gold in USD per ounce, of the day before or earlier. */
  gold: Float64Array;
  /** ISM manufacturing PMI, first print, from its release date. */
  pmi: Float64Array;
  /** Net flow of all US spot ETFs, USD millions, on days that are also S&P days. */
  etfFlow: BusinessDaySeries;
  sp500: BusinessDaySeries;
  dxy: BusinessDaySeries;
}

/** Observations by their own date, ascending and without duplicates. */
export interface BusinessDaySeries {
  days: Int32Array;
  values: Float64Array;
}

/** Columns of a frame that hold one number a day. */
export const DAILY_COLUMNS = [
  'close',
  'fearGreed',
  'realizedPrice',
  'takerBuyFraction',
  'fundingRate',
  'gold',
  'pmi',
] as const satisfies readonly (keyof InputFrame)[];

export type DailyColumn = (typeof DAILY_COLUMNS)[number];

/** Series of a frame that hold business-day observations. */
export const BUSINESS_DAY_COLUMNS = ['etfFlow', 'sp500', 'dxy'] as const satisfies readonly (keyof InputFrame)[];

export type BusinessDayColumn = (typeof BUSINESS_DAY_COLUMNS)[number];

/** Number of days in a frame. */
export function getFrameLength(frame: InputFrame): number {
  return frame.close.length;
}

/** The last day of a frame. */
export function getLastDay(frame: InputFrame): Day {
  return frame.firstDay + frame.close.length - 1;
}

/** Days of closes below which trend (200-day average) and volatility ratio (30 + 180 days) cannot be told. */
export const MIN_HISTORY_DAYS = 210;

const POSITIVE_COLUMNS: readonly string[] = ['close', 'realizedPrice', 'gold', 'sp500', 'dxy'];

/**
 * What was known at 21:35 UTC of `lastDay`: daily columns to that day, as views of the same memory, and business-day
 * observations dated the day before or earlier.
 * @throws OracleError INPUT_INVALID when the frame has no such day.
 */
export function sliceFrame(frame: InputFrame, lastDay: Day): InputFrame {
  if (!(lastDay >= frame.firstDay && lastDay <= getLastDay(frame))) {
    throw new OracleError(
      'INPUT_INVALID',
      `the frame runs from ${formatDay(frame.firstDay)} to ${formatDay(getLastDay(frame))} and cannot be cut at ${formatDay(lastDay)}`,
      { field: 'lastDay' },
    );
  }
  const rows = lastDay - frame.firstDay + 1;
  const slice = { ...frame };
  for (const column of DAILY_COLUMNS) slice[column] = frame[column].subarray(0, rows);
  for (const column of BUSINESS_DAY_COLUMNS) slice[column] = cutSeries(frame[column], lastDay - 1);
  return slice;
}

function cutSeries(series: BusinessDaySeries, lastDay: Day): BusinessDaySeries {
  const count = countUntil(series.days, lastDay);
  return { days: series.days.subarray(0, count), values: series.values.subarray(0, count) };
}

/** Number of entries of an ascending list that are on or before `day`. */
export function countUntil(days: Int32Array, day: Day): number {
  let low = 0;
  let high = days.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (days[middle] <= day) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Checks a frame before anything is computed from it.
 * @throws OracleError HISTORY_TOO_SHORT below `MIN_HISTORY_DAYS` rows; INPUT_INVALID, naming column and date, for a price that is
 * missing, zero or negative, an infinite value, columns of unequal length and business days that do not strictly ascend.
 */
export function validateFrame(frame: InputFrame): void {
  const rows = getFrameLength(frame);
  if (rows < MIN_HISTORY_DAYS) {
    throw new OracleError('HISTORY_TOO_SHORT', `a forecast needs at least ${MIN_HISTORY_DAYS} days of closes, there are ${rows}`, {
      field: 'close',
      suggestedAction: 'Load a longer price history.',
    });
  }
  for (const column of DAILY_COLUMNS) requireValidDaily(frame, column, rows);
  for (const column of BUSINESS_DAY_COLUMNS) requireValidSeries(frame[column], column);
}

function requireValidDaily(frame: InputFrame, column: DailyColumn, rows: number): void {
  const values = frame[column];
  if (values.length !== rows) throw invalidColumn(column, `has ${values.length} rows, close has ${rows}`);
  for (let row = 0; row < rows; row++) {
    if (Number.isNaN(values[row]) && column !== 'close') continue;
    requireValidValue(values[row], column, frame.firstDay + row);
  }
}

function requireValidSeries({ days, values }: BusinessDaySeries, column: BusinessDayColumn): void {
  if (days.length !== values.length) throw invalidColumn(column, `has ${days.length} dates and ${values.length} values`);
  for (let index = 0; index < days.length; index++) {
    if (index > 0 && days[index] <= days[index - 1]) {
      throw invalidColumn(column, `has ${formatDay(days[index])} after ${formatDay(days[index - 1])}: dates must strictly ascend`);
    }
    requireValidValue(values[index], column, days[index]);
  }
}

function requireValidValue(value: number, column: DailyColumn | BusinessDayColumn, day: Day): void {
  if (!Number.isFinite(value)) throw invalidColumn(column, `is ${value} on ${formatDay(day)}`);
  if (value <= 0 && POSITIVE_COLUMNS.includes(column)) throw invalidColumn(column, `is ${value} on ${formatDay(day)}: it must be above 0`);
}

function invalidColumn(column: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${column} ${problem}`, { field: column });
}
