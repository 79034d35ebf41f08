import { DAY_MS, type Day, getWeekday, toDay, toInstantMs } from '../forecast/day.ts';
import { countUntil } from '../forecast/inputs.ts';
import { mean } from '../forecast/math.ts';

interface SeriesRule {
  title: string;
  unit: string;
  /** Hours from 00:00 UTC of the observation's date to its publication. */
  publishedAfterHours: number;
  /** The forecast of day t reads observations dated t - lagDays or earlier. */
  lagDays: number;
  /** Observations dated more than this many days before t are masked. */
  staleDays: number;
}

function defineSeries(title: string, unit: string, publishedAfterHours: number, lagDays: number, staleDays: number): SeriesRule {
  return { title, unit, publishedAfterHours, lagDays, staleDays };
}

/** All series of a feed. PMI observations are dated by their release, all others by the date they describe. */
export const SERIES = {
  btcClose: defineSeries('Bitcoin daily close', 'USD', 24, 1, 1),
  btcHigh: defineSeries('Bitcoin daily high', 'USD', 24, 1, 1),
  btcLow: defineSeries('Bitcoin daily low', 'USD', 24, 1, 1),
  fearGreed: defineSeries('Crypto Fear & Greed index', '0 to 100', 0, 0, 3),
  realizedPrice: defineSeries('Bitcoin realized price', 'USD', 24, 1, 7),
  sthRealizedPrice: defineSeries('Realized price of short-term holders', 'USD', 24, 1, 7),
  takerBuyFraction: defineSeries('Taker buy share of spot volume', 'fraction', 24, 1, 1),
  fundingRate: defineSeries('Perpetual funding rate', 'fraction per 8 h', 24, 1, 1),
  openInterest: defineSeries('Perpetual open interest', 'USD', 24, 1, 7),
  perpBasis: defineSeries('Perpetual basis: mark over index, less one', 'fraction', 24, 1, 7),
  dvol: defineSeries('Bitcoin implied volatility index', '% a year', 24, 1, 7),
  // Funds report through the US night: the newest figure is provisional until 12:00 UTC of the next day.
  etfFlow: defineSeries('Net flow of US spot Bitcoin ETFs', 'USD millions', 36, 1, 7),
  sp500: defineSeries('S&P 500', 'points', 24, 1, 7),
  dxy: defineSeries('US dollar index', 'points', 24, 1, 7),
  gold: defineSeries('Gold', 'USD per ounce', 24, 1, 7),
  vix: defineSeries('VIX', '% a year', 24, 1, 7),
  us2y: defineSeries('US 2-year yield', '% a year', 24, 1, 7),
  us10y: defineSeries('US 10-year yield', '% a year', 24, 1, 7),
  fedFunds: defineSeries('Effective federal funds rate', '% a year', 48, 2, 7),
  policyRate: defineSeries('Federal funds target, upper limit', '% a year', 24, 1, 45),
  // 10:00 New York is 14:00 or 15:00 UTC.
  pmi: defineSeries('ISM manufacturing PMI, first print', 'index', 15, 0, 45),
} as const satisfies Record<string, SeriesRule>;

export type SeriesId = keyof typeof SERIES;
export const SERIES_IDS = Object.keys(SERIES) as SeriesId[];

/** The series that all venues give together, from the same candles. */
const PRICE_SERIES = ['btcClose', 'btcHigh', 'btcLow'] as const satisfies SeriesId[];
export type PriceSeriesId = (typeof PRICE_SERIES)[number];

export function isPriceSeries(series: SeriesId): series is PriceSeriesId {
  return (PRICE_SERIES as readonly SeriesId[]).includes(series);
}

export function getPublicationMs(series: SeriesId, day: Day): number {
  return toInstantMs(day, SERIES[series].publishedAfterHours);
}

/** The first scheduled publication (ms) of the series after `atMs`. */
export function getNextPublicationMs(series: SeriesId, atMs: number): number {
  return getPublicationMs(series, toDay(atMs - getPublicationMs(series, 0)) + 1);
}

type NumberArray = Float64Array | Int32Array;

export type GrowableColumn<Column extends NumberArray> = ReturnType<typeof createGrowableColumn<Column>>;

/** Append-only typed array. Views stay valid and unchanged while it grows. */
export function createGrowableColumn<Column extends NumberArray>(Storage: new (length: number) => Column, capacity = 4096) {
  let storage = new Storage(capacity);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value: number): void {
      if (length === storage.length) {
        const full = storage;
        storage = new Storage(full.length * 2);
        storage.set(full);
      }
      storage[length++] = value;
    },
    /** Requires `index < length`. */
    at: (index: number): number => storage[index],
    view: () => storage.subarray(0, length) as Column,
  };
}

/** The last value dated between `day - toleranceDays` and `day`; null without one. */
export function findValueAt({ days, values }: Observations, day: Day, toleranceDays = 0): number | null {
  const index = countUntil(days, day) - 1;
  return index >= 0 && days[index] >= day - toleranceDays ? values[index] : null;
}

export function sliceValuesBetween({ days, values }: Observations, from: Day, to: Day): Float64Array {
  return values.subarray(countUntil(days, from - 1), countUntil(days, to));
}

export function averageBetween(observations: Observations, from: Day, to: Day): number | null {
  const values = sliceValuesBetween(observations, from, to);
  return values.length === 0 ? null : mean(values);
}

/**
 * A time series as columns of equal length. `days` are strictly ascending; `availableAt` (ms, when the value became known) never
 * decreases. The arrays are immutable once returned.
 */
export interface Observations {
  source: string;
  days: Int32Array;
  values: Float64Array;
  availableAt: Float64Array;
}

export function sliceKnownAt({ source, days, values, availableAt }: Observations, atMs: number): Observations {
  const end = countUntil(availableAt, atMs);
  return { source, days: days.subarray(0, end), values: values.subarray(0, end), availableAt: availableAt.subarray(0, end) };
}

const [MONDAY, THURSDAY, FRIDAY] = [0, 3, 4];

function isWeekend(day: Day): boolean {
  return getWeekday(day) > FRIDAY;
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
  const observedFriday = getWeekday(day) === FRIDAY && isHoliday(day + 1) && toCalendarDate(day + 1).month !== 1;
  return isHoliday(day) || observedFriday || (getWeekday(day) === MONDAY && isHoliday(day - 1));
}

/** King's Birthday, Presidents' Day, Memorial Day, Labor Day, Thanksgiving. */
function isMovableHoliday(day: Day): boolean {
  const { month, date } = toCalendarDate(day);
  const nth = Math.ceil(date / 7);
  if (getWeekday(day) === THURSDAY) return month === 11 && nth === 4;
  if (getWeekday(day) !== MONDAY) return false;
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
