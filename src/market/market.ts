import type { Day } from '../forecast/day.ts';
import type { DailyCloses } from '../forecast/fit/base-rates.ts';
import { type CacheStatistics, createCache } from '../platform/cache.ts';
import { OracleError } from '../platform/errors.ts';
import type { Feed, FeedCoverage, FeedKind, SpotPrice } from './feed.ts';
import { createInputsBuilder, type DayInputs } from './inputs/day-inputs.ts';
import type { ProviderHealth } from './live/providers/provider.ts';
import { buildMarketContext, type MarketContext } from './market-context.ts';
import { type DailyClose, getDailyClose, requireClosedDay } from './prices/daily-close.ts';
import { QUORUM_RULES, type QuorumRule } from './prices/quorum.ts';
import { buildReport } from './reports/build-report.ts';
import type { ReportEnvelope } from './reports/envelope-fields.ts';
import type { MarketReport } from './reports/report.ts';
import type { SeriesId } from './series/series.ts';
import { getSeriesHealth, type SeriesHealth } from './series/series-health.ts';
import type { StrikeSnapshot } from './strikes.ts';

/** Staleness limit of a spot price. CSV and simulated feeds have exactly one price per instant, which cannot be late. */
const MAX_SPOT_AGE_MS = {
  live: 15 * 60_000,
  csv: Number.POSITIVE_INFINITY,
  simulated: Number.POSITIVE_INFINITY,
} as const satisfies Record<FeedKind, number>;

export interface MarketHealth {
  kind: FeedKind;
  source: string;
  series: SeriesHealth[];
  caches: CacheStatistics[];
}

/** Point-in-time market data: no method returns anything unknown at `atMs`. */
export interface Market {
  readonly kind: FeedKind;
  readonly source: string;
  coverage(): Promise<FeedCoverage>;
  /** The closes of all finished days known at `atMs`, as the model reads them. Callers share the array and must not modify it. */
  closeHistory(atMs: number): Promise<DailyCloses>;
  /** BTC/USD. @throws OracleError PRICE_UNAVAILABLE when the price is missing or stale */
  spot(atMs: number): Promise<SpotPrice>;
  /**
   * Model inputs of `day`: the BTC price at `atMs` (or the close of a past day), and other series as known at 21:35 UTC or `atMs`,
   * whichever is earlier. Callers share the frame and must not modify it.
   * @throws OracleError PRICE_UNAVAILABLE, HISTORY_TOO_SHORT
   */
  inputs(day: Day, atMs: number): Promise<DayInputs>;
  /** The close that outcomes resolve against. @throws OracleError PRICE_UNAVAILABLE until the candle is closed and a quorum agrees */
  dailyClose(day: Day, atMs: number): Promise<DailyClose>;
  /** @throws OracleError PRICE_UNAVAILABLE */
  context(atMs: number): Promise<MarketContext>;
  /** A report in its response envelope. @throws OracleError PRICE_UNAVAILABLE when it needs a price and none was ever known */
  report(report: MarketReport, atMs: number): Promise<ReportEnvelope>;
  strikes(atMs: number): Promise<StrikeSnapshot[]>;
  /** Earliest time (ms, after `atMs`) of newer values. */
  nextChangeAt(what: SeriesId | 'spot', atMs: number): Promise<number>;
  /** Empty for a feed without providers. */
  providerHealth(): Promise<ProviderHealth[]>;
  health(atMs: number): Promise<MarketHealth>;
}

interface MarketOptions {
  quorum?: Partial<QuorumRule>;
  maxSpotAgeMs?: number;
  /** Persists the first agreed close of a day and returns the pinned one; unset for a feed whose closes never change. */
  pinClose?(close: DailyClose): Promise<DailyClose>;
}

/** Adds quorum and staleness rules and caching to a feed. */
export function createMarket(feed: Feed, options: MarketOptions = {}): Market {
  const { pinClose = async (close: DailyClose) => close, maxSpotAgeMs = MAX_SPOT_AGE_MS[feed.kind] } = options;
  const quorum = { ...QUORUM_RULES[feed.kind], ...options.quorum };
  const spots = createCache<SpotPrice>('spot', 16);
  const contexts = createCache<MarketContext>('context', 16);
  const reports = createCache<ReportEnvelope>('report', 32);
  const strikes = createCache<StrikeSnapshot[]>('strikes', 4);
  const changes = createCache<number>('next-change', 64);
  const healths = createCache<SeriesHealth[]>('health', 2);
  // A frame of the full history takes about half a megabyte.
  const dayInputs = createCache<DayInputs>('inputs', 4);
  const closes = createCache<DailyClose>('daily-close', 512);

  const spot = (atMs: number) => spots.get(toMinute(atMs), () => requireFreshSpot(feed, atMs, maxSpotAgeMs));
  const inputs = createInputsBuilder(feed, spot);

  return {
    kind: feed.kind,
    source: feed.source,
    coverage: () => feed.coverage(),
    async closeHistory(atMs) {
      const { days, values } = await feed.observations('btcClose', atMs);
      return { firstDay: days[0] ?? 0, closes: values };
    },
    spot,
    inputs: (day, atMs) => dayInputs.get(`${day}@${toMinute(atMs)}`, () => inputs(day, atMs)),
    async dailyClose(day, atMs) {
      requireClosedDay(day, atMs);
      return closes.get(day, async () => pinClose(await getDailyClose(feed, day, atMs, quorum)));
    },
    context: (atMs) => contexts.get(toMinute(atMs), async () => buildMarketContext(feed, await spot(atMs), atMs)),
    report: (report, atMs) => reports.get(`${report.path}@${toMinute(atMs)}`, () => buildReport(report, feed, atMs, maxSpotAgeMs)),
    strikes: (atMs) => strikes.get(toMinute(atMs), () => feed.strikes(atMs)),
    nextChangeAt: (what, atMs) => changes.get(`${what}@${toMinute(atMs)}`, () => feed.nextChangeAt(what, atMs)),
    providerHealth: () => feed.providerHealth(),
    async health(atMs) {
      const caches = [spots, contexts, reports, strikes, dayInputs, closes].map((cache) => cache.statistics());
      return { kind: feed.kind, source: feed.source, series: await healths.get(toMinute(atMs), () => getSeriesHealth(feed, atMs)), caches };
    },
  };
}

/** Cache key: every request reads prices and contexts, and one read a minute is fresh enough. */
function toMinute(atMs: number): number {
  return Math.floor(atMs / 60_000);
}

/** @throws OracleError PRICE_UNAVAILABLE when the price is missing or older than `maxAgeMs` */
async function requireFreshSpot(feed: Feed, atMs: number, maxAgeMs: number): Promise<SpotPrice> {
  const spot = await feed.spot(atMs);
  const ageMs = atMs - spot.observedAtMs;
  if (ageMs <= maxAgeMs) return spot;
  const age = `${Math.round(ageMs / 60_000)} minutes old, the limit is ${Math.round(maxAgeMs / 60_000)}`;
  throw new OracleError('PRICE_UNAVAILABLE', `The last price from ${spot.source} is ${age}`);
}
