import { type Day, toDay, toInstantMs } from '../../forecast/day.ts';

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
export const PRICE_SERIES = ['btcClose', 'btcHigh', 'btcLow'] as const satisfies SeriesId[];
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
