import { DAY_MS, type Day, toDay, toInstantMs } from '../forecast/day.ts';
import { roundTo } from '../platform/validation.ts';
import type { ProviderHealth } from './live/provider.ts';
import { getPublicationMs, type Observations, SERIES, type SeriesId, sliceKnownAt } from './series.ts';

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

export interface StrikeBookLevel {
  /** Of a YES contract, 0 to 1. */
  price: number;
  /** Contracts. */
  size: number;
}

/** One quote of a prediction market on "Will BTC be above the strike at expiry?". */
export interface StrikeSnapshot {
  venue: 'polymarket' | 'kalshi';
  marketId: string;
  /** Untrusted text of the venue, bounded in length: data, never instructions. */
  question: string;
  /** Untrusted settlement rules of the venue, bounded in length. */
  resolution: string;
  strikeUsd: number;
  expiresAtMs: number;
  /** Best prices of a YES contract, 0 to 1; null for an empty or unread side of the book. */
  bid: number | null;
  ask: number | null;
  lastPrice: number | null;
  /** Best first, at most five; empty when the book was not read. */
  bids: StrikeBookLevel[];
  asks: StrikeBookLevel[];
  tickSize: number | null;
  minOrderSize: number | null;
  negRisk: boolean | null;
  /** Polymarket only. */
  conditionId: string | null;
  yesTokenId: string | null;
  noTokenId: string | null;
  url: string;
  /** Quote time on the provider's clock (ms); null where it sends none. */
  providerAtMs: number | null;
  receivedAtMs: number;
}

const NEW_YORK_TIME_FORMAT = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** 12:00 in New York is 16:00 or 17:00 UTC. */
export function isNewYorkNoon(instantMs: number): boolean {
  return NEW_YORK_TIME_FORMAT.format(instantMs).endsWith('12:00');
}

/** Polymarket's weekly ladder expires on Fridays at noon in New York. */
export function isWeeklyStrike({ venue, expiresAtMs }: Pick<StrikeSnapshot, 'venue' | 'expiresAtMs'>): boolean {
  return venue === 'polymarket' && isNewYorkNoon(expiresAtMs) && NEW_YORK_TIME_FORMAT.format(expiresAtMs).startsWith('Fri');
}

/** The next weekly ladder that expires more than one day after `atMs`; empty without one. */
export function selectWeeklyStrikes(snapshots: readonly StrikeSnapshot[], atMs: number): StrikeSnapshot[] {
  const ladders = snapshots.filter((snapshot) => snapshot.expiresAtMs > atMs + DAY_MS && isWeeklyStrike(snapshot));
  const first = Math.min(...ladders.map(({ expiresAtMs }) => expiresAtMs));
  return ladders.filter(({ expiresAtMs }) => expiresAtMs === first);
}

export function selectNearTheMoney<T extends { strikeUsd: number }>(strikes: readonly T[], spotUsd: number, count: number): T[] {
  const distance = ({ strikeUsd }: T) => Math.abs(strikeUsd - spotUsd);
  const nearest = strikes.toSorted((a, b) => distance(a) - distance(b)).slice(0, count);
  return nearest.sort((a, b) => a.strikeUsd - b.strikeUsd);
}

/** Rounds for display; null for null, NaN and infinities. */
export function roundOrNull(value: number | null, decimals: number): number | null {
  return value === null || !Number.isFinite(value) ? null : roundTo(value, decimals);
}

/** Change in percent, rounded to two decimals; null when a value is missing or the result is not finite. */
export function computeChangePct(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : roundOrNull((to / from - 1) * 100, 2);
}

export function subtractOrNull(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from;
}

/** Rounded to whole dollars: providers publish one decimal, and sums of them carry binary rounding errors. */
export function millionsToUsd(millions: number): number;
export function millionsToUsd(millions: number | null): number | null;
export function millionsToUsd(millions: number | null): number | null {
  return millions === null ? null : Math.round(millions * 1_000_000);
}

/** Hour and minute (UTC) at which a day's inputs are fixed. */
export const SIGNAL_TIME = { hours: 21, minutes: 35 } as const;

export function getSignalTimeMs(day: Day): number {
  return toInstantMs(day, SIGNAL_TIME.hours, SIGNAL_TIME.minutes);
}

/** The last good value of a series for display, with its age. */
export interface LatestReading {
  series: SeriesId;
  title: string;
  unit: string;
  source: string;
  /** Null, like `observedDay` and `observedAtMs`, only before the first value. */
  value: number | null;
  observedDay: Day | null;
  /** When this value became known (ms). */
  observedAtMs: number | null;
  ageDays: number | null;
  /** True when the value is missing or exceeds the series' `staleDays`. */
  stale: boolean;
  /** True before the value's publication time. */
  provisional: boolean;
}

export type SeriesReading = Awaited<ReturnType<typeof readSeries>>;

/** Reads the newest version of a series, provisional values included; `known` ascends. @throws the errors of the feed */
export async function readSeries(feed: Feed, series: SeriesId, atMs: number) {
  const known = sliceKnownAt(await feed.observations(series, atMs, 'latest'), atMs);
  return { reading: buildLatestReading(series, known, atMs), known };
}

export function buildLatestReading(series: SeriesId, { source, days, values, availableAt }: Observations, atMs: number): LatestReading {
  const { title, unit, staleDays } = SERIES[series];
  const origin = { series, title, unit, source };
  const last = days.length - 1;
  if (last < 0) {
    return { ...origin, value: null, observedDay: null, observedAtMs: null, ageDays: null, stale: true, provisional: false };
  }
  const observedDay = days[last];
  const ageDays = toDay(atMs) - observedDay;
  const publishedAtMs = getPublicationMs(series, observedDay);
  // A repeated or late delivery does not make a value newer.
  const observedAtMs = Math.min(availableAt[last], publishedAtMs);
  const read = { value: values[last], observedDay, observedAtMs, ageDays };
  return { ...origin, ...read, stale: ageDays > staleDays, provisional: atMs < publishedAtMs };
}
