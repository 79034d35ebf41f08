import { SERIES, SERIES_IDS, type SeriesId } from '../series.ts';
import type { SeriesPlan } from './collect/series-poll.ts';
import { PROVIDERS, type ProviderId, VENUE_IDS } from './providers.ts';
import type { EtfSource, SeriesSource, VenueSource } from './source.ts';
import { alternativeMeFearGreed } from './sources/alternative-me.ts';
import { binance, binanceTakerBuyFraction } from './sources/binance.ts';
import { binanceFunding, binanceOpenInterest } from './sources/binance-futures.ts';
import { bitbo } from './sources/bitbo.ts';
import { bitcoinDataRealizedPrice, bitcoinDataSthRealizedPrice } from './sources/bitcoin-data.ts';
import { bitstamp } from './sources/bitstamp.ts';
import { bitviewRealizedPrice, bitviewSthRealizedPrice } from './sources/bitview.ts';
import { bybitBasis, bybitFunding, bybitOpenInterest } from './sources/bybit.ts';
import { coinbase } from './sources/coinbase.ts';
import { dbnomicsPmi } from './sources/dbnomics.ts';
import { deribitBasis, deribitDvol } from './sources/deribit.ts';
import { farside } from './sources/farside.ts';
import { fredFedFunds, fredPolicyRate, fredSp500, fredUs2y, fredUs10y, fredVix } from './sources/fred.ts';
import { kalshiStrikes } from './sources/kalshi.ts';
import { kraken } from './sources/kraken.ts';
import { okxFunding, okxOpenInterest } from './sources/okx.ts';
import { polymarketStrikes } from './sources/polymarket.ts';
import { sosovalue } from './sources/sosovalue.ts';
import type { StrikeSource } from './sources/strike-source.ts';
import { yahooDxy, yahooGold, yahooSp500, yahooUs10y, yahooVix } from './sources/yahoo.ts';

const HOUR_MS = 3_600_000;

/** What is asked of each of `VENUE_IDS`, in their order. */
export const VENUES: readonly VenueSource[] = [coinbase, kraken, bitstamp, binance];

/** Series that come from venues and funds, not from a source of their own. */
type DerivedSeries = 'btcClose' | 'etfFlow';
export type SeriesWithPlan = Exclude<SeriesId, DerivedSeries>;

const hourly = (...sources: SeriesSource[]): SeriesPlan => ({ sources, everyMs: HOUR_MS });
/** bitcoin-data.com answers fifteen requests a day. */
const fourTimesADay = (...sources: SeriesSource[]): SeriesPlan => ({ sources, everyMs: 6 * HOUR_MS });

/** Where each series comes from, the primary first: a further source is one file and one name here. */
export const SERIES_PLANS: Readonly<Record<SeriesWithPlan, SeriesPlan>> = {
  fearGreed: hourly(alternativeMeFearGreed),
  realizedPrice: fourTimesADay(bitviewRealizedPrice, bitcoinDataRealizedPrice),
  sthRealizedPrice: fourTimesADay(bitviewSthRealizedPrice, bitcoinDataSthRealizedPrice),
  takerBuyFraction: hourly(binanceTakerBuyFraction),
  fundingRate: hourly(okxFunding, bybitFunding, binanceFunding),
  openInterest: hourly(okxOpenInterest, bybitOpenInterest, binanceOpenInterest),
  perpBasis: hourly(deribitBasis, bybitBasis),
  dvol: hourly(deribitDvol),
  sp500: hourly(yahooSp500, fredSp500),
  // FRED's DTWEXBGS is another index, and it has no price of gold any more.
  dxy: hourly(yahooDxy),
  gold: hourly(yahooGold),
  vix: hourly(yahooVix, fredVix),
  us2y: hourly(fredUs2y),
  us10y: hourly(yahooUs10y, fredUs10y),
  fedFunds: hourly(fredFedFunds),
  policyRate: hourly(fredPolicyRate),
  pmi: fourTimesADay(dbnomicsPmi),
};

/** Who tells the flows of single funds, too, the primary first. */
export const FUND_SOURCES: readonly EtfSource[] = [bitbo, farside];

/** Where the flows of US spot Bitcoin ETFs come from, the primary first. `key` is SoSoValue's, where one is set. */
export function etfSources(key: string | undefined): readonly EtfSource[] {
  return [sosovalue(key), ...FUND_SOURCES];
}

export const STRIKE_SOURCES: readonly StrikeSource[] = [polymarketStrikes, kalshiStrikes];

/** Everybody who is asked for a series, the primary first. */
export function providersOf(series: SeriesId): ProviderId[] {
  if (series === 'btcClose') return [...VENUE_IDS];
  const sources = series === 'etfFlow' ? etfSources(undefined) : SERIES_PLANS[series].sources;
  return sources.map(({ provider }) => provider);
}

/** Who is asked for what, the primary first, as Markdown. */
export function providersMarkdown(): string {
  const titles = (ids: readonly ProviderId[]) => ids.map((id) => PROVIDERS[id].title).join(', ');
  const rows = [
    ['Price', titles(providersOf('btcClose'))],
    ...SERIES_IDS.map((series) => [SERIES[series].title, titles(providersOf(series))]),
    ...STRIKE_SOURCES.map(({ providers }) => ['Strikes and order books', titles(providers)]),
  ];
  return ['| What | Asked, the primary first |', '| --- | --- |', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}
