import type { Day } from '../forecast/day.ts';
import type { ProviderHealth } from './live/providers/provider.ts';
import type { Observations } from './series/observations.ts';
import type { SeriesId } from './series/series.ts';
import type { StrikeSnapshot } from './strikes.ts';

export const FEED_KINDS = ['live', 'csv', 'simulated'] as const;
export type FeedKind = (typeof FEED_KINDS)[number];

export interface SpotPrice {
  priceUsd: number;
  /** Time of the price (ms), on the provider's clock where it sends one. */
  observedAtMs: number;
  source: string;
  /** 24-hour change in percent; null where the provider does not report one. */
  change24hPct: number | null;
}

/** Highest and lowest price of BTC/USD, in USD. */
export interface PriceRange {
  highUsd: number;
  lowUsd: number;
}

/** One venue's close of one day. A null price carries the reason. */
export interface VenueClose {
  venue: string;
  priceUsd: number | null;
  reason?: string;
}

/** `first`: the first final version, which forecasts read. `latest`: the newest version including provisional ones, for reports. */
export type Vintage = 'first' | 'latest';

/** Days with a BTC close; `lastDay` is null for a feed without an end. */
export interface FeedCoverage {
  firstDay: Day;
  lastDay: Day | null;
}

/**
 * Point-in-time market data: no method returns anything unknown at `atMs`. CSV and simulated feeds are deterministic for any instant;
 * a live feed has a spot price for the present only.
 */
export interface Feed {
  readonly kind: FeedKind;
  readonly source: string;
  coverage(): Promise<FeedCoverage>;
  /** Observations known at `atMs`; empty for a series the feed does not carry. `btcClose` has no gaps. */
  observations(series: SeriesId, atMs: number, vintage?: Vintage): Promise<Observations>;
  /** The latest price at `atMs`. @throws OracleError PRICE_UNAVAILABLE */
  spot(atMs: number): Promise<SpotPrice>;
  /** High and low of the running UTC day so far; null where the feed has none. Not checked for plausibility. */
  rangeSoFar(atMs: number): Promise<PriceRange | null>;
  /** Each venue's close of the daily candle that ends at 00:00 UTC of `day + 1`, missing ones included. */
  dailyCloses(day: Day, atMs: number): Promise<VenueClose[]>;
  /** Net flow of each US spot Bitcoin ETF (USD millions) by ticker; empty for a feed with totals only. */
  fundFlows(atMs: number): Promise<Record<string, Observations>>;
  strikes(atMs: number): Promise<StrikeSnapshot[]>;
  /** Earliest time (ms, after `atMs`) of newer values; the expiry of caches and `Cache-Control`. */
  nextChangeAt(what: SeriesId | 'spot', atMs: number): Promise<number>;
  /** Changes when a backfill alters the past, which invalidates frames built from it. Absent: the past never changes. */
  historyRevision?(): number;
  /** Empty for a feed without providers. */
  providerHealth(): Promise<ProviderHealth[]>;
}
