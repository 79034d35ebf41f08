import type { Day } from '../forecast/day.ts';
import type { ProviderHealth } from './live/providers/provider.ts';
import type { Observations } from './series/observations.ts';
import type { SeriesId } from './series/series.ts';
import type { StrikeSnapshot } from './strikes.ts';

export const FEED_KINDS = ['live', 'csv', 'simulated'] as const;

export type FeedKind = (typeof FEED_KINDS)[number];

export interface SpotPrice {
  priceUsd: number;
  /** When the price was made, on the provider's clock where it has one (ms). */
  observedAtMs: number;
  source: string;
  /** Change against 24 hours before, in percent; null where the provider cannot tell. */
  change24hPct: number | null;
}

/** One venue's close of one day; a null price comes with the reason it is missing. */
export interface VenueClose {
  venue: string;
  priceUsd: number | null;
  reason?: string;
}

/**
 * Which version of an observation is meant: `first`, the first that was final, as forecasts read it for ever; or `latest`, the newest
 * version known, provisional ones included, as people want to read it. Where nothing is ever revised the two are the same.
 */
export type Vintage = 'first' | 'latest';

/** Days with a BTC close; `lastDay` is null where the feed has no end. */
export interface FeedCoverage {
  firstDay: Day;
  lastDay: Day | null;
}

/**
 * Raw market data as of an instant: no method reveals what was not known at `atMs`. A CSV or simulated feed can be asked about
 * any instant, in any order, and always gives the same answer; a live one has a spot price for now only.
 */
export interface Feed {
  readonly kind: FeedKind;
  /** Human-readable origin, e.g. `simulated (seed 7)`. */
  readonly source: string;
  coverage(): Promise<FeedCoverage>;
  /** Everything of a series known at `atMs`; empty for a series that the feed does not have. `btcClose` has no missing day. */
  observations(series: SeriesId, atMs: number, vintage?: Vintage): Promise<Observations>;
  /** The latest price at `atMs`. @throws OracleError PRICE_UNAVAILABLE */
  spot(atMs: number): Promise<SpotPrice>;
  /** Every venue's close of the daily candle that ends at 00:00 UTC of `day + 1`, missing ones included. */
  dailyCloses(day: Day, atMs: number): Promise<VenueClose[]>;
  /** Net flows of each US spot Bitcoin ETF (USD millions) by ticker, as last known; empty where only totals are known. */
  fundFlows(atMs: number): Promise<Record<string, Observations>>;
  /** The strikes of prediction markets as last seen; empty where the feed sees none. */
  strikes(atMs: number): Promise<StrikeSnapshot[]>;
  /** When newer values of a series, or a newer price, can be expected (ms, later than `atMs`): what caches go by. */
  nextChangeAt(what: SeriesId | 'spot', atMs: number): Promise<number>;
  /** A number that changes when the past was filled in later: what was built from it has to be built again. Absent: never. */
  historyRevision?(): number;
  /** How the providers are doing; empty for a feed that asks nobody. */
  providerHealth(): Promise<ProviderHealth[]>;
}
