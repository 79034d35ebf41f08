import { HOUR_MS } from '../../forecast/day.ts';
import type { SeriesPlan } from '../live/collect.ts';
import { PROVIDERS, type ProviderId, VENUE_IDS } from '../live/provider.ts';
import { isPriceSeries, type PriceSeriesId, SERIES, SERIES_IDS, type SeriesId } from '../series.ts';
import { alternativeMeFearGreed } from './alternative-me.ts';
import { binance, binanceTakerBuyFraction } from './binance.ts';
import { binanceFunding, binanceOpenInterest } from './binance-futures.ts';
import { bitcoinDataRealizedPrice, bitcoinDataSthRealizedPrice } from './bitcoin-data.ts';
import { bitstamp } from './bitstamp.ts';
import { bitviewRealizedPrice, bitviewSthRealizedPrice } from './bitview.ts';
import { bybitBasis, bybitFunding, bybitOpenInterest } from './bybit.ts';
import { coinbase } from './coinbase.ts';
import { dbnomicsPmi } from './dbnomics.ts';
import { deribitBasis, deribitDvol } from './deribit.ts';
import { bitbo, farside } from './etf-flows.ts';
import { fred } from './fred.ts';
import { kalshiStrikes } from './kalshi.ts';
import { kraken } from './kraken.ts';
import { okxFunding, okxOpenInterest } from './okx.ts';
import { polymarketStrikes } from './polymarket.ts';
import { createSosovalueSource } from './sosovalue.ts';
import type { EtfSource, SeriesSource, StrikeSource, VenueSource } from './source.ts';
import { yahoo } from './yahoo.ts';

/** The sources of `VENUE_IDS`, in the same order. */
export const VENUE_SOURCES: readonly VenueSource[] = [coinbase, kraken, bitstamp, binance];
const hourly = (...sources: SeriesSource[]): SeriesPlan => ({ sources, everyMs: HOUR_MS });
/** bitcoin-data.com allows fifteen requests a day. */
const everySixHours = (...sources: SeriesSource[]): SeriesPlan => ({ sources, everyMs: 6 * HOUR_MS });

/** The sources of each series, the primary first; the others are `VENUE_SOURCES` and `createEtfSources`. A new source is one file and one name here, and a new provider an entry in `live/provider.ts`. */
export const SERIES_PLANS: Readonly<Record<Exclude<SeriesId, PriceSeriesId | 'etfFlow'>, SeriesPlan>> = {
  fearGreed: hourly(alternativeMeFearGreed),
  realizedPrice: everySixHours(bitviewRealizedPrice, bitcoinDataRealizedPrice),
  sthRealizedPrice: everySixHours(bitviewSthRealizedPrice, bitcoinDataSthRealizedPrice),
  takerBuyFraction: hourly(binanceTakerBuyFraction),
  fundingRate: hourly(okxFunding, bybitFunding, binanceFunding),
  openInterest: hourly(okxOpenInterest, bybitOpenInterest, binanceOpenInterest),
  perpBasis: hourly(deribitBasis, bybitBasis),
  dvol: hourly(deribitDvol),
  sp500: hourly(yahoo.sp500, fred.sp500),
  // No FRED fallback: DTWEXBGS is a different index, and FRED has discontinued gold.
  dxy: hourly(yahoo.dxy),
  gold: hourly(yahoo.gold),
  vix: hourly(yahoo.vix, fred.vix),
  us2y: hourly(fred.us2y),
  us10y: hourly(yahoo.us10y, fred.us10y),
  fedFunds: hourly(fred.fedFunds),
  policyRate: hourly(fred.policyRate),
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
  ] as const;
  const merged = [...Map.groupBy(rows, ([, providers]) => providers)];
  const lines = merged.map(([providers, group]) => `| ${group.map(([what]) => what).join('; ')} | ${providers} |`);
  return ['| Data | Providers, the primary first |', '| --- | --- |', ...lines].join('\n');
}
