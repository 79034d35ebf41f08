import { type Day, toInstantMs } from '../../forecast/day.ts';

/** When a value of a series is first known, and for how long it may be used. */
export interface SeriesRule {
  title: string;
  unit: string;
  /** Hours from 00:00 UTC of the observation's date until anybody could know it. */
  publishedAfterHours: number;
  /** The forecast of day t reads observations dated t - lagDays or earlier. */
  lagDays: number;
  /** An observation dated more than this many days before t is masked. */
  staleDays: number;
}

const defineSeries = (title: string, unit: string, publishedAfterHours: number, lagDays: number, staleDays: number): SeriesRule => ({
  title,
  unit,
  publishedAfterHours,
  lagDays,
  staleDays,
});

/** Every series a feed may deliver. PMI observations are dated by their release, all others by the date they describe. */
export const SERIES = {
  btcClose: defineSeries('Bitcoin daily close', 'USD', 24, 1, 1),
  fearGreed: defineSeries('Crypto Fear & Greed index', '0 to 100', 0, 0, 3),
  realizedPrice: defineSeries('Bitcoin realized price', 'USD', 24, 1, 7),
  sthRealizedPrice: defineSeries('Realized price of short-term holders', 'USD', 24, 1, 7),
  takerBuyFraction: defineSeries('Taker buy share of spot volume', 'fraction', 24, 1, 1),
  fundingRate: defineSeries('Perpetual funding rate', 'fraction per 8 h', 24, 1, 1),
  openInterest: defineSeries('Perpetual open interest', 'USD', 24, 1, 7),
  perpBasis: defineSeries('Perpetual basis: mark over index, less one', 'fraction', 24, 1, 7),
  dvol: defineSeries('Bitcoin implied volatility index', '% a year', 24, 1, 7),
  // Funds report through the US night; the newest figure is provisional until the next European noon.
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

/** The instant (ms) at which an observation of this series and date is first known. */
export function getPublicationMs(series: SeriesId, day: Day): number {
  return toInstantMs(day, SERIES[series].publishedAfterHours);
}
