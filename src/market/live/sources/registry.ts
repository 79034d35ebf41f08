import { isPriceSeries, type PriceSeriesId, SERIES, SERIES_IDS, type SeriesId } from '../../series/series.ts';
import type { SeriesPlan } from '../collect/series-poll.ts';
import { PROVIDERS, type ProviderId, VENUE_IDS } from '../providers/providers.ts';
import { alternativeMeFearGreed } from './bitcoin-metrics/alternative-me.ts';
import { bitcoinDataRealizedPrice, bitcoinDataSthRealizedPrice } from './bitcoin-metrics/bitcoin-data.ts';
import { bitviewRealizedPrice, bitviewSthRealizedPrice } from './bitcoin-metrics/bitview.ts';
import { binanceFunding, binanceOpenInterest } from './derivatives/binance-futures.ts';
import { bybitBasis, bybitFunding, bybitOpenInterest } from './derivatives/bybit.ts';
import { deribitBasis, deribitDvol } from './derivatives/deribit.ts';
import { okxFunding, okxOpenInterest } from './derivatives/okx.ts';
import { bitbo } from './etf/bitbo.ts';
import { farside } from './etf/farside.ts';
import { createSosovalueSource } from './etf/sosovalue.ts';
import { dbnomicsPmi } from './macro/dbnomics.ts';
import { fredFedFunds, fredPolicyRate, fredSp500, fredUs2y, fredUs10y, fredVix } from './macro/fred.ts';
import { yahooDxy, yahooGold, yahooSp500, yahooUs10y, yahooVix } from './macro/yahoo.ts';
import type { EtfSource, SeriesSource, VenueSource } from './source.ts';
import { kalshiStrikes } from './strikes/kalshi.ts';
import { polymarketStrikes } from './strikes/polymarket.ts';
import type { StrikeSource } from './strikes/strike-source.ts';
import { binance, binanceTakerBuyFraction } from './venues/binance.ts';
import { bitstamp } from './venues/bitstamp.ts';
import { coinbase } from './venues/coinbase.ts';
import { kraken } from './venues/kraken.ts';

const HOUR_MS = 3_600_000;
/** The sources of `VENUE_IDS`, in the same order. */
export const VENUE_SOURCES: readonly VenueSource[] = [coinbase, kraken, bitstamp, binance];
const hourly = (...sources: SeriesSource[]): SeriesPlan => ({ sources, everyMs: HOUR_MS });
/** bitcoin-data.com allows fifteen requests a day. */
const everySixHours = (...sources: SeriesSource[]): SeriesPlan => ({ sources, everyMs: 6 * HOUR_MS });

/** The sources of each series, the primary first; the others are `VENUE_SOURCES` and `createEtfSources`. A new source is one file and one name here, and a new provider an entry in `providers/providers.ts`. */
export const SERIES_PLANS: Readonly<Record<Exclude<SeriesId, PriceSeriesId | 'etfFlow'>, SeriesPlan>> = {
  fearGreed: hourly(alternativeMeFearGreed),
  realizedPrice: everySixHours(bitviewRealizedPrice, bitcoinDataRealizedPrice),
  sthRealizedPrice: everySixHours(bitviewSthRealizedPrice, bitcoinDataSthRealizedPrice),
  takerBuyFraction: hourly(binanceTakerBuyFraction),
  fundingRate: hourly(okxFunding, bybitFunding, binanceFunding),
  openInterest: hourly(okxOpenInterest, bybitOpenInterest, binanceOpenInterest),
  perpBasis: hourly(deribitBasis, bybitBasis),
  dvol: hourly(deribitDvol),
  sp500: hourly(yahooSp500, fredSp500),
  // No FRED fallback: DTWEXBGS is a different index, and FRED has discontinued gold.
  dxy: hourly(yahooDxy),
  gold: hourly(yahooGold),
  vix: hourly(yahooVix, fredVix),
  us2y: hourly(fredUs2y),
  us10y: hourly(yahooUs10y, fredUs10y),
  fedFunds: hourly(fredFedFunds),
  policyRate: hourly(fredPolicyRate),
  pmi: everySixHours(dbnomicsPmi),
};

/** Sources with flows of single funds, the primary first. */
export const FUND_FLOW_SOURCES: readonly EtfSource[] = [bitbo, farside];

export function createEtfSources(sosovalueKey: string | undefined): readonly EtfSource[] {
  return [createSosovalueSource(sosovalueKey), ...FUND_FLOW_SOURCES];
}

export const STRIKE_SOURCES: readonly StrikeSource[] = [polymarketStrikes, kalshiStrikes];

export function getProviderIds(series: SeriesId): ProviderId[] {
  if (isPriceSeries(series)) return [...VENUE_IDS];
  const sources = series === 'etfFlow' ? createEtfSources(undefined) : SERIES_PLANS[series].sources;
  return sources.map(({ provider }) => provider);
}

/** The table of providers in docs/DATA.md. */
export function providersMarkdown(): string {
  const titles = (ids: readonly ProviderId[]) => ids.map((id) => PROVIDERS[id].title).join(', ');
  const rows = [
    ['Price', titles(getProviderIds('btcClose'))],
    ...SERIES_IDS.map((series) => [SERIES[series].title, titles(getProviderIds(series))]),
    ...STRIKE_SOURCES.map(({ providers }) => ['Strikes and order books', titles(providers)]),
  ];
  return ['| Data | Providers, the primary first |', '| --- | --- |', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}
