import { OracleError } from '../errors.ts';
import { type Day, formatDay, toDay, toInstantMs } from '../forecast/day.ts';
import type { DailyCloses } from '../forecast/fit.ts';
import { getFearGreedLabel } from '../forecast/regime.ts';
import { type CacheStatistics, createCache } from '../platform/concurrency.ts';
import { openCsvFeed } from './csv.ts';
import { type Feed, type FeedCoverage, type FeedKind, millionsToUsd, roundOrNull, type SpotPrice, type StrikeSnapshot } from './feed.ts';
import { createInputsBuilder, type DayInputs } from './inputs.ts';
import type { ProviderHealth, ProviderId } from './live/provider.ts';
import { FIRST_LIVE_DAY } from './live/store.ts';
import { computeQuorumPrice, type DailyClose, QUORUM_RULES, type QuorumRule } from './quorum.ts';
import { sumFlowsUsd } from './reports/etf.ts';
import type { MarketReport, ReportEnvelope } from './reports/report.ts';
import { buildReport } from './reports/reports.ts';
import { type Observations, SERIES, SERIES_IDS, type SeriesId, sliceKnownAt } from './series.ts';
import { openSimulatedFeed } from './simulated.ts';

/** Staleness limit of a spot price. CSV and simulated feeds have exactly one price per instant, which cannot be late. */
const MAX_SPOT_AGE_MS = {
  live: 15 * 60_000,
  csv: Number.POSITIVE_INFINITY,
  simulated: Number.POSITIVE_INFINITY,
} as const satisfies Record<FeedKind, number>;

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
  health(atMs: number): Promise<{ kind: FeedKind; source: string; series: SeriesHealth[]; caches: CacheStatistics[] }>;
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

/** @throws OracleError PRICE_UNAVAILABLE before the candle closes */
function requireClosedDay(day: Day, atMs: number): void {
  const closesAtMs = toInstantMs(day + 1);
  if (atMs >= closesAtMs) return;
  throw new OracleError('PRICE_UNAVAILABLE', `The candle of ${formatDay(day)} closes at ${new Date(closesAtMs).toISOString()}`);
}

/** The quorum price of a closed day. @throws OracleError PRICE_UNAVAILABLE with the reason when venues do not agree */
async function getDailyClose(feed: Feed, day: Day, atMs: number, rule: QuorumRule): Promise<DailyClose> {
  const closes = await feed.dailyCloses(day, atMs);
  try {
    return { day, ...computeQuorumPrice(closes, rule) };
  } catch (error) {
    if (!(error instanceof OracleError)) throw error;
    throw new OracleError(error.code, `Close of ${formatDay(day)}: ${error.message}`, { cause: error });
  }
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

/** Public market figures as of one instant. A figure is null when its series is missing or stale. */
export type MarketContext = Awaited<ReturnType<typeof buildMarketContext>>;

/** Composes the public figures known at `atMs`. @throws the errors of the feed */
export async function buildMarketContext(feed: Feed, spot: SpotPrice, atMs: number) {
  const today = toDay(atMs);
  const sentiment = sliceKnownAt(await feed.observations('fearGreed', atMs), atMs);
  const flows = sliceKnownAt(await feed.observations('etfFlow', atMs), atMs);
  const lastSentiment = findLatest(sentiment, today - SERIES.fearGreed.staleDays);
  const lastFlow = findLatest(flows, today - SERIES.etfFlow.staleDays);
  const fearGreed = roundOrNull(lastSentiment?.value ?? null, 0);
  return {
    atMs,
    kind: feed.kind,
    source: feed.source,
    btcPrice: spot.priceUsd,
    change24hPct: spot.change24hPct,
    fearGreed,
    fearGreedLabel: fearGreed === null ? null : getFearGreedLabel(fearGreed),
    // Net flows of calendar days that end with the last reported one.
    etfFlowThroughDay: lastFlow?.day ?? null,
    etfFlows7dUsd: lastFlow && sumFlowsUsd(flows, lastFlow.day, 7),
    etfFlows30dUsd: lastFlow && sumFlowsUsd(flows, lastFlow.day, 30),
    etfFlowLastDayUsd: lastFlow && millionsToUsd(lastFlow.value),
    // Publication time of each figure (ms).
    observedAt: { btcPrice: spot.observedAtMs, fearGreed: lastSentiment?.availableAt ?? null, etfFlows: lastFlow?.availableAt ?? null },
    sources: { btcPrice: spot.source, fearGreed: sentiment.source, etfFlows: flows.source },
  };
}

/** The last observation unless it is dated before `since`. */
function findLatest({ days, values, availableAt }: Observations, since: Day): { day: Day; value: number; availableAt: number } | null {
  const index = days.length - 1;
  return index >= 0 && days[index] >= since ? { day: days[index], value: values[index], availableAt: availableAt[index] } : null;
}

export type SeriesHealth = Awaited<ReturnType<typeof getSeriesHealth>>[number];

/** Coverage and staleness of each series at `atMs`; `providers` are those of a live feed, the primary first. @throws the errors of the feed */
async function getSeriesHealth(feed: Feed, atMs: number) {
  const circuits = new Map((await feed.providerHealth()).map(({ provider, circuit }) => [provider, circuit]));
  const { getProviderIds } = feed.kind === 'live' ? await import('./sources/registry.ts') : { getProviderIds: (): ProviderId[] => [] };
  return Promise.all(
    SERIES_IDS.map(async (series) => {
      const { source, days } = await feed.observations(series, atMs, 'latest');
      const lastObservedDay = days.at(-1) ?? null;
      const ageDays = lastObservedDay === null ? null : toDay(atMs) - lastObservedDay;
      const stale = ageDays === null || ageDays > SERIES[series].staleDays;
      const providers = getProviderIds(series).map((provider) => ({ provider, circuit: circuits.get(provider) ?? 'closed' }));
      return { series, title: SERIES[series].title, source, lastObservedDay, ageDays, stale, providers };
    }),
  );
}

/** The FEEDS setting as far as it is decided before the record is open. */
interface FeedChoice {
  coverage: FeedCoverage;
  /** The feed for a record made from `recorded` (null: no record yet). `feed` is null for live data, which needs the database. */
  selectFeed(recorded: string | null): { feed: Feed | null; reason: string | null };
}

const CHOICES = 'Set FEEDS to auto, live, simulated or csv:<folder>.';
const LIVE_COVERAGE: FeedCoverage = { firstDay: FIRST_LIVE_DAY, lastDay: null };

/**
 * Parses the FEEDS setting. `auto` probes live providers for at most 3 s and falls back to a simulated market; an existing record keeps
 * the feed it was made from.
 * @throws OracleError CONFIG_INVALID for an unknown setting, FEED_INVALID naming file and line
 */
export async function chooseFeed(
  setting: string,
  { seed, isLiveReachable }: { seed: number; isLiveReachable(): Promise<boolean> },
): Promise<FeedChoice> {
  if (setting === 'live') return { coverage: LIVE_COVERAGE, selectFeed: () => ({ feed: null, reason: null }) };
  if (setting === 'auto') return chooseAutomatically(seed, await isLiveReachable());
  const feed = await openNamedFeed(setting, seed);
  return { coverage: await feed.coverage(), selectFeed: () => ({ feed, reason: null }) };
}

function chooseAutomatically(seed: number, reachable: boolean): FeedChoice {
  const simulated = (reason: string) => ({ feed: openSimulatedFeed({ seed }), reason });
  return {
    coverage: LIVE_COVERAGE,
    selectFeed(recorded) {
      if (recorded === 'live') return { feed: null, reason: reachable ? null : 'no venue responds: steps wait for live data' };
      if (recorded?.startsWith('csv:')) throw csvFolderRequired(recorded);
      if (recorded !== null) return simulated('the record in this folder was made from the SIMULATED market and continues with it');
      return reachable ? { feed: null, reason: null } : simulated('no live data could be reached within 3 s: the market is SIMULATED');
    },
  };
}

async function openNamedFeed(setting: string, seed: number): Promise<Feed> {
  if (setting === 'simulated') return openSimulatedFeed({ seed });
  if (!setting.startsWith('csv:')) throw invalidFeedsSetting(`"${setting}" is not a feed`);
  const folder = setting.slice('csv:'.length).trim();
  if (folder === '') throw invalidFeedsSetting('csv: needs a folder');
  return openCsvFeed(folder);
}

/** The record stores the folder's name without its path. */
function csvFolderRequired(recorded: string): OracleError {
  const suggestedAction = `Set FEEDS=csv:<folder>, with the folder named "${recorded.slice('csv:'.length)}" that the record was made from.`;
  const message = `Setting FEEDS: the record in this data folder was made from files (${recorded})`;
  return new OracleError('CONFIG_INVALID', message, { field: 'FEEDS', suggestedAction });
}

function invalidFeedsSetting(problem: string): OracleError {
  return new OracleError('CONFIG_INVALID', `FEEDS: ${problem}. ${CHOICES}`, { field: 'FEEDS', suggestedAction: CHOICES });
}
