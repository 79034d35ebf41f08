import type { Day } from './day.ts';

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
export function frameLength(frame: InputFrame): number {
  return frame.close.length;
}

/** The last day of a frame. */
export function lastDayOf(frame: InputFrame): Day {
  return frame.firstDay + frame.close.length - 1;
}
