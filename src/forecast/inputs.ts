import { OracleError } from '../errors.ts';
import { type Day, formatDay } from './day.ts';

/**
 * All inputs of the forecast as known at 21:35 UTC of each day; row `i` is day `firstDay + i`, and `NaN` masks a missing, stale or
 * unpublished value. Daily columns have their lags applied; business-day series hold observations by their own date, of which day t reads
 * those dated t-1 or earlier. Rows never change later, so a prefix (`sliceFrame`) is exactly what was known then.
 */
export interface InputFrame {
  firstDay: Day;
  /** BTC/USD close, never masked, > 0; the last row may hold the price at signal time instead. */
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
  /** Highest and lowest price in USD; the last row may hold those so far. Both are masked where the pair is not plausible. */
  high: Float64Array;
  low: Float64Array;
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

export const DAILY_COLUMNS = [
  'close',
  'fearGreed',
  'realizedPrice',
  'takerBuyFraction',
  'fundingRate',
  'gold',
  'pmi',
  'high',
  'low',
] as const;
export type DailyColumn = (typeof DAILY_COLUMNS)[number];
export const BUSINESS_DAY_COLUMNS = ['etfFlow', 'sp500', 'dxy'] as const satisfies readonly (keyof InputFrame)[];
export type BusinessDayColumn = (typeof BUSINESS_DAY_COLUMNS)[number];

export function getFrameLength(frame: InputFrame): number {
  return frame.close.length;
}

export function getLastDay(frame: InputFrame): Day {
  return frame.firstDay + frame.close.length - 1;
}

/** Minimum days of closes for the trend (200-day average) and the volatility ratio (30 + 180 days). */
export const MIN_HISTORY_DAYS = 210;
const POSITIVE_COLUMNS: readonly string[] = ['close', 'realizedPrice', 'gold', 'high', 'low', 'sp500', 'dxy'];

/**
 * The frame as known at 21:35 UTC of `lastDay`: views of the daily columns through that day, and observations dated the day before or earlier.
 * @throws OracleError INPUT_INVALID when `lastDay` is outside the frame
 */
export function sliceFrame(frame: InputFrame, lastDay: Day): InputFrame {
  if (!(lastDay >= frame.firstDay && lastDay <= getLastDay(frame))) {
    const period = `${formatDay(frame.firstDay)} to ${formatDay(getLastDay(frame))}`;
    throw new OracleError('INPUT_INVALID', `${formatDay(lastDay)} is outside the frame of ${period}`, { field: 'lastDay' });
  }
  const rows = lastDay - frame.firstDay + 1;
  const slice = { ...frame };
  for (const column of DAILY_COLUMNS) slice[column] = frame[column].subarray(0, rows);
  for (const column of BUSINESS_DAY_COLUMNS) slice[column] = cutSeries(frame[column], lastDay - 1);
  return slice;
}

/** The observations dated `lastDay` or earlier. */
export function cutSeries(series: BusinessDaySeries, lastDay: Day): BusinessDaySeries {
  const count = countUntil(series.days, lastDay);
  return { days: series.days.subarray(0, count), values: series.values.subarray(0, count) };
}

/** Binary search: the number of leading entries of an ascending array that are at most `limit`. */
export function countUntil(ascending: Int32Array | Float64Array, limit: number, length: number = ascending.length): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Validates a frame.
 * @throws OracleError HISTORY_TOO_SHORT below `MIN_HISTORY_DAYS` rows; INPUT_INVALID with column and date for a missing or non-positive
 * price, an infinite value, columns of unequal length, and business days that do not strictly ascend
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

/**
 * Columns of a feature table. The scores `trend`, `momentum`, `flow`, `value` and `vol` are in [-1, 1] and never masked; the others may
 * be NaN. `ret*`, `gap*`, `cross` and `drawdown` (from the 365-day high) are log ratios, `v94`, `v97` and `v99` exponentially weighted
 * daily variances of log returns, `rangeVariance` one from highs and lows, `vratio` daily volatility over its one-year median.
 */
export const FEATURE_NAMES = [
  'trend',
  'momentum',
  'flow',
  'value',
  'vol',
  'z50',
  'z200',
  'zc',
  'm7',
  'm28',
  'm91',
  'etf',
  'takz',
  'funz',
  'spz',
  'dxz',
  'pmi',
  'macro',
  'mvz',
  'fg7',
  'gz',
  'vratio',
  'ret7',
  'ret30',
  'ret90',
  'gap200',
  'gap50',
  'cross',
  'drawdown',
  'v94',
  'v97',
  'v99',
  'rangeVariance',
] as const;

export type FeatureName = (typeof FEATURE_NAMES)[number];
/** Columns aligned with the frame: row `i` is day `firstDay + i`. */
export type FeatureTable = { firstDay: Day; length: number } & Record<FeatureName, Float64Array>;

/** A record with a value for each of these keys, in their order. */
export function toRecord<Key extends string, Value>(keys: readonly Key[], make: (key: Key, index: number) => Value): Record<Key, Value> {
  return Object.fromEntries(keys.map((key, index) => [key, make(key, index)])) as Record<Key, Value>;
}

/** The value of a key; one without is computed and kept. */
export function getOrInsert<Key, Value>(map: Map<Key, Value>, key: Key, compute: () => Value): Value {
  if (!map.has(key)) map.set(key, compute());
  return map.get(key)!;
}
