import type { Day } from '../forecast/day.ts';
import { type CacheStatistics, createCache } from '../platform/cache.ts';
import type { Feed, FeedCoverage, FeedKind, SpotPrice } from './feed.ts';
import { createInputsBuilder, type DayInputs } from './inputs/day-inputs.ts';
import type { ProviderHealth } from './live/providers/provider.ts';
import { buildMarketContext, type MarketContext } from './market-context.ts';
import { type DailyClose, getDailyClose, requireClosedDay } from './prices/daily-close.ts';
import { QUORUM_RULES, type QuorumRule } from './prices/quorum.ts';
import { MAX_SPOT_AGE_MS, requireFreshSpot } from './prices/spot-price.ts';
import { buildReport } from './reports/build-report.ts';
import type { ReportEnvelope } from './reports/envelope-fields.ts';
import type { MarketReport } from './reports/report.ts';
import type { SeriesId } from './series/series.ts';
import { getSeriesHealth, type SeriesHealth } from './series/series-health.ts';
import type { StrikeSnapshot } from './strikes.ts';

export interface MarketHealth {
  kind: FeedKind;
  source: string;
  series: SeriesHealth[];
  caches: CacheStatistics[];
}

/** Market data as of an instant (ms). Nothing a method returns was unknown at that instant. */
export interface Market {
  readonly kind: FeedKind;
  /** Human-readable origin, e.g. `simulated (seed 7)`. */
  readonly source: string;
  coverage(): Promise<FeedCoverage>;
  /** BTC/USD. @throws OracleError PRICE_UNAVAILABLE when there is no price, or only a stale one */
  spot(atMs: number): Promise<SpotPrice>;
  /**
   * What a forecast of `day` may look at: the BTC price of `atMs` (once the day is over, its close), and of everything else what
   * was known at 21:35 UTC, or at `atMs` if that is earlier. The frame is shared with later callers: do not write to it.
   * @throws OracleError PRICE_UNAVAILABLE, HISTORY_TOO_SHORT
   */
  inputs(day: Day, atMs: number): Promise<DayInputs>;
  /** The close that outcomes are settled with. @throws OracleError PRICE_UNAVAILABLE until the candle is closed and venues agree */
  dailyClose(day: Day, atMs: number): Promise<DailyClose>;
  /** @throws OracleError PRICE_UNAVAILABLE */
  context(atMs: number): Promise<MarketContext>;
  /** A report as it is served. @throws OracleError PRICE_UNAVAILABLE when it needs a price and none was ever known */
  report(report: MarketReport, atMs: number): Promise<ReportEnvelope>;
  /** The strikes of prediction markets as last seen; empty where the feed sees none. */
  strikes(atMs: number): Promise<StrikeSnapshot[]>;
  /** When newer values of a series, or a newer price, can be expected (ms, later than `atMs`). */
  nextChangeAt(what: SeriesId | 'spot', atMs: number): Promise<number>;
  /** How the providers are doing; empty for a feed that asks nobody. */
  providerHealth(): Promise<ProviderHealth[]>;
  health(atMs: number): Promise<MarketHealth>;
}

export interface MarketOptions {
  quorum?: Partial<QuorumRule>;
  maxSpotAgeMs?: number;
  /** Keeps the first agreed close of a day for good, and returns the one that stands; unset where venues never change their mind. */
  pinClose?(close: DailyClose): Promise<DailyClose>;
}

/** The market as the rest of the service sees it: a feed with the rules on staleness and agreement, and caches. */
export function createMarket(feed: Feed, options: MarketOptions = {}): Market {
  const quorum = { ...QUORUM_RULES[feed.kind], ...options.quorum };
  const pinClose = options.pinClose ?? (async (close: DailyClose) => close);
  const maxSpotAgeMs = options.maxSpotAgeMs ?? MAX_SPOT_AGE_MS[feed.kind];
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

/** Prices and contexts are asked for with every request; one a minute is enough. */
function toMinute(atMs: number): number {
  return Math.floor(atMs / 60_000);
}
