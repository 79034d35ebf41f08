import { type Day, instantOf } from '../forecast/day.ts';

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

const rule = (title: string, unit: string, publishedAfterHours: number, lagDays: number, staleDays: number): SeriesRule => ({
  title,
  unit,
  publishedAfterHours,
  lagDays,
  staleDays,
});

/** Every series a feed may deliver. PMI observations are dated by their release, all others by the date they describe. */
export const SERIES = {
  btcClose: rule('Bitcoin daily close', 'USD', 24, 1, 1),
  fearGreed: rule('Crypto Fear & Greed index', '0 to 100', 0, 0, 3),
  realizedPrice: rule('Bitcoin realized price', 'USD', 24, 1, 7),
  sthRealizedPrice: rule('Realized price of short-term holders', 'USD', 24, 1, 7),
  takerBuyFraction: rule('Taker buy share of spot volume', 'fraction', 24, 1, 1),
  fundingRate: rule('Perpetual funding rate', 'fraction per 8 h', 24, 1, 1),
  openInterest: rule('Perpetual open interest', 'USD', 24, 1, 7),
  perpBasis: rule('Perpetual basis: mark over index, less one', 'fraction', 24, 1, 7),
  dvol: rule('Bitcoin implied volatility index', '% a year', 24, 1, 7),
  // Funds report through the US night; the newest figure is provisional until the next European noon.
  etfFlow: rule('Net flow of US spot Bitcoin ETFs', 'USD millions', 36, 1, 7),
  sp500: rule('S&P 500', 'points', 24, 1, 7),
  dxy: rule('US dollar index', 'points', 24, 1, 7),
  gold: rule('Gold', 'USD per ounce', 24, 1, 7),
  vix: rule('VIX', '% a year', 24, 1, 7),
  us2y: rule('US 2-year yield', '% a year', 24, 1, 7),
  us10y: rule('US 10-year yield', '% a year', 24, 1, 7),
  fedFunds: rule('Effective federal funds rate', '% a year', 48, 2, 7),
  policyRate: rule('Federal funds target, upper limit', '% a year', 24, 1, 45),
  // 10:00 New York is 14:00 or 15:00 UTC.
  pmi: rule('ISM manufacturing PMI, first print', 'index', 15, 0, 45),
} as const satisfies Record<string, SeriesRule>;

export type SeriesId = keyof typeof SERIES;

export const SERIES_IDS = Object.keys(SERIES) as SeriesId[];

/** The instant (ms) at which an observation of this series and date is first known. */
export function publishedAt(series: SeriesId, day: Day): number {
  return instantOf(day, SERIES[series].publishedAfterHours);
}
