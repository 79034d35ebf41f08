import type { Db } from 'mongodb';
import { getErrorMessage, isOracleError, OracleError } from '../../errors.ts';
import { type Day, formatDay, HOUR_MS } from '../../forecast/day.ts';
import type { Log } from '../../platform/log.ts';
import { createOperatorFetch } from '../../platform/outbound/operator.ts';
import { MAX_CLOCK_SKEW_MS, type TrustedTime } from '../../platform/time.ts';
import { QUORUM_RULES } from '../quorum.ts';
import type { SeriesId } from '../series.ts';
import { createEtfSources, FUND_FLOW_SOURCES, SERIES_PLANS, STRIKE_SOURCES, VENUE_SOURCES } from '../sources/registry.ts';
import {
  type DailyCandle,
  type DatedValue,
  type DayRange,
  type EtfSource,
  getFirstDay,
  type SeriesSource,
  type StrikeSource,
  type VenueSource,
} from '../sources/source.ts';
import {
  AGREED_RANGES_ID,
  agreeOnCloses,
  agreeOnRanges,
  type CollectDeps,
  createClosesPoll,
  createEtfPoll,
  createRangePoll,
  createSeriesPoll,
  createSpotPoll,
  fetchRange,
  fetchTrustedCandles,
  fetchWithFallback,
  getLastClosedDay,
  type Poll,
  type SeriesPlan,
  splitRange,
  toCloses,
  toExtremes,
  toFlowStreams,
} from './collect.ts';
import type { ObservationStream } from './observations.ts';
import { type Provider, type ProviderId, VENUE_IDS } from './provider.ts';
import { createProviders, getBaseUrl, type ProviderTiming, type ProviderUrls } from './providers.ts';
import { type BackfillStore, FIRST_LIVE_DAY, openLiveFeed, openLiveStores, type PollStore } from './store.ts';

interface LiveMarketOptions {
  db: Db;
  urls: ProviderUrls;
  sosovalueKey: string | undefined;
  /** Days before now with closes of all venues. */
  venueDays: number;
  log: Log;
  now(): number;
  /** Nothing is collected while the clocks disagree: what is received is dated by that of the process, and the record reads it. */
  time?: Pick<TrustedTime, 'findDisagreement'>;
  signal: AbortSignal;
  timing?: Partial<ProviderTiming>;
}

/** Live market data: workers fetch and store it, every process reads it. */
export type LiveMarket = ReturnType<typeof openLiveMarket>;
const QUARTER_HOUR_MS = 15 * 60_000;
const SERIES_PLAN_ENTRIES = Object.entries(SERIES_PLANS) as [keyof typeof SERIES_PLANS, SeriesPlan][];

export function openLiveMarket(options: LiveMarketOptions) {
  const { db, urls, venueDays, log, now, time, signal, timing } = options;
  const stores = openLiveStores(db, now);
  const providers = createProviders({ urls, log, now, signal, timing });
  const flows = createEtfSources(options.sosovalueKey);
  const deps: CollectDeps = { stores, providers, now, venues: VENUE_IDS, quorum: QUORUM_RULES.live };

  /** Fetches the remaining history. @returns the incomplete items; never throws for a provider */
  async function fetchHistory(onProgress: BackfillOptions['onProgress']): Promise<MissingHistory[]> {
    const run = { backfills: stores.backfills, onProgress, signal };
    const window = await stores.backfills.begin(AGREED_CLOSES_ID, Math.max(FIRST_LIVE_DAY, getLastClosedDay(now()) - venueDays + 1));
    const backfillDeps = { ...deps, windowStart: window.from };
    const longest = VENUE_SOURCES.toSorted((a, b) => (getHistoryStart(a) < getHistoryStart(b) ? -1 : 1));
    const ranges = [...VENUE_SOURCES.map((venue) => createVenueRangeItem(venue, backfillDeps)), createLongRangeItem(longest, backfillDeps)];
    for (const { id, from } of ranges) await stores.backfills.begin(id, from);
    const items = [
      ...VENUE_SOURCES.map((venue) => createVenueItem(venue, backfillDeps)),
      createLongCloseItem(longest, backfillDeps),
      ...SERIES_PLAN_ENTRIES.map(([id, plan]) => createSeriesItem(id, plan, backfillDeps)),
      ...flows.map((source) => createEtfItem(source, backfillDeps)),
    ];
    const missing = await runBackfill(items, run);
    missing.push(...(await runBackfill([createAgreedCloseItem(backfillDeps), ...selectFetchable(ranges, missing)], run)));
    missing.push(...(await runBackfill([createAgreedRangeItem(VENUE_SOURCES, backfillDeps)], run)));
    await saveHealth();
    return missing;
  }

  const spot = createSpotPoll(VENUE_SOURCES, deps);
  const prices = [spot, createRangePoll(VENUE_SOURCES, deps)];
  const others = [
    createClosesPoll(VENUE_SOURCES, deps),
    createEtfPoll({ id: 'etfFlow', sources: flows, everyMs: HOUR_MS }, deps),
    createEtfPoll({ id: 'fundFlows', sources: FUND_FLOW_SOURCES, everyMs: 6 * HOUR_MS }, deps),
    ...STRIKE_SOURCES.map((source) => createStrikesPoll(source, deps)),
    ...SERIES_PLAN_ENTRIES.map(([id, plan]) => createSeriesPoll(id, plan, deps)),
  ];
  const history: Poll = {
    id: 'history',
    everyMs: QUARTER_HOUR_MS,
    retryMs: QUARTER_HOUR_MS,
    async run() {
      if (await stores.backfills.isComplete()) return undefined;
      const missing = await fetchHistory(() => {});
      if (missing.length > 0) throw new OracleError('FEED_UNAVAILABLE', missing.map(({ id, reason }) => `${id}: ${reason}`).join('; '));
      return undefined;
    },
  };
  /** Saves only providers called by this process: another worker may call the others. */
  const saveHealth = () => {
    const healths = Object.values(providers).map((provider: Provider) => provider.health());
    return stores.providerHealth.save(healths.filter(({ calls }) => calls > 0));
  };
  const collect = async (polls: Poll[]) => {
    if ((await time?.findDisagreement()) != null) return;
    await runDuePolls(polls, { polls: stores.polls, log, now });
    await saveHealth();
  };

  return {
    feed: openLiveFeed(stores),
    stores,
    fetchHistory,
    /** The price alone, for a start that waits for it. */
    collectSpot: () => collect([spot]),
    collectPrices: () => collect(prices),
    collect: () => collect(others),
    completeHistory: () => collect([history]),
  };
}

interface PollOptions {
  polls: PollStore;
  log: Log;
  now(): number;
}

const LEASE_MS = 5 * 60_000;

/** Runs the due polls that no other worker holds. A feed failure is recorded and logged once, not thrown. */
export async function runDuePolls(polls: readonly Poll[], options: PollOptions): Promise<void> {
  await Promise.all(polls.map((poll) => runIfDue(poll, options)));
}

async function runIfDue(poll: Poll, { polls, log, now }: PollOptions): Promise<void> {
  const startedAtMs = now();
  const leaseMs = poll.leaseMs ?? LEASE_MS;
  if (!(await polls.claim(poll.id, startedAtMs, { leaseMs, maxWaitMs: Math.max(leaseMs, poll.everyMs) + MAX_CLOCK_SKEW_MS }))) return;
  try {
    const before = await polls.find(poll.id);
    const wanted = await poll.run(startedAtMs);
    await polls.succeeded(poll.id, now(), Math.min(startedAtMs + poll.everyMs, wanted ?? Number.POSITIVE_INFINITY));
    if (before?.error) log.info({ feed: poll.id, attempts: before.failures + 1 }, 'feed is back');
  } catch (error) {
    if (!isOracleError(error, 'FEED_UNAVAILABLE') && !isOracleError(error, 'FEED_INVALID')) {
      // For example at shutdown: the next process does not wait for the lease to expire.
      await polls.release(poll.id, startedAtMs);
      throw error;
    }
    const wait = (failures: number) => Math.min(poll.everyMs, poll.retryMs * 2 ** Math.min(failures - 1, 20));
    const failures = await polls.failed(poll.id, getErrorMessage(error), (count) => startedAtMs + wait(count));
    if (failures === 1) log.warn({ feed: poll.id, reason: getErrorMessage(error) }, 'feed failed: what is known of it stays');
  }
}

/** Stores the strikes near the money of a prediction market, since venues publish no past odds. */
function createStrikesPoll(source: StrikeSource, { stores, providers }: CollectDeps): Poll {
  return {
    id: `strikes/${source.providers[0]}`,
    everyMs: 15 * 60_000,
    retryMs: 60_000,
    async run(nowMs) {
      const spot = await stores.spots.findAt(nowMs);
      if (spot === null) throw new OracleError('FEED_UNAVAILABLE', 'strikes near the money need a price first');
      await stores.strikes.save(await source.fetch(providers, { spotUsd: spot.priceUsd, atMs: nowMs }));
      return undefined;
    },
  };
}

const getHistoryStart = ({ history }: (typeof VENUE_SOURCES)[number]) => ('from' in history ? history.from : '9999');

/** Cheap public endpoint of each venue. */
const PROBES: Partial<Record<ProviderId, string>> = {
  coinbase: '/time',
  kraken: '/0/public/Time',
  bitstamp: '/api/v2/ticker/btcusd/',
  binance: '/api/v3/time',
};

/** Fewer agree on no price. */
const { minVenues: MIN_VENUES } = QUORUM_RULES.live;
const PROBE_TIMEOUT_MS = 2_800;
const MAX_BYTES = 1_000_000;

/** True once a quorum of venues responds; false when they do not within three seconds. */
export async function isLiveReachable(urls: ProviderUrls): Promise<boolean> {
  const probes = Object.entries(PROBES).map(([provider, path]) => probe(getBaseUrl(urls, provider as ProviderId), path));
  let responses = 0;
  return new Promise((resolve) => {
    for (const pending of probes) void pending.then((ok) => ok && ++responses === MIN_VENUES && resolve(true));
    void Promise.all(probes).then(() => resolve(false));
  });
}

async function probe(base: string, path: string): Promise<boolean> {
  try {
    const response = await createOperatorFetch({ base, timeoutMs: PROBE_TIMEOUT_MS, maxBytes: MAX_BYTES })(`${base}${path}`);
    await response.json();
    return response.ok;
  } catch {
    return false;
  }
}

/** Venues closed for some days in their early years; a longer gap is an error. */
const MAX_CARRIED_DAYS = 4;

/** The closes of a venue, and the ranges of the same candles. */
export function createVenueItem(venue: VenueSource, deps: BackfillDeps): BackfillItem {
  return {
    id: `venueClose/${venue.provider}`,
    ...getVenuePart(venue, deps),
    async fetch(range) {
      const candles = await fetchTrustedCandles(venue, range, deps);
      await saveHistory(deps, 'venueClose', venue.provider, toCloses(candles));
      await saveRanges(deps, 'venue', venue.provider, candles);
      await deps.stores.backfills.advanceAlong(getVenueRangeId(venue), range);
    },
  };
}

/** What is fetched of a venue: the days since `windowStart`. */
function getVenuePart(venue: VenueSource, { now, windowStart }: BackfillDeps) {
  const to = getLastClosedDay(now());
  return { from: Math.max(getFirstDay(venue, to + 1), windowStart), to, pageDays: venue.pageDays, required: false };
}

/** The closes before `windowStart` and their ranges, from the available venue with the longest history. */
export function createLongCloseItem(venues: readonly VenueSource[], deps: BackfillDeps): BackfillItem {
  return {
    id: 'btcClose/history',
    from: FIRST_LIVE_DAY,
    to: deps.windowStart - 1,
    pageDays: Math.min(...venues.map((venue) => venue.pageDays)),
    required: true,
    async fetch(range) {
      await fetchLongCandles(venues, range, deps);
      await deps.stores.backfills.advanceAlong(LONG_RANGES_ID, range);
    },
  };
}

async function fetchLongCandles(venues: readonly VenueSource[], range: DayRange, deps: BackfillDeps): Promise<void> {
  const today = getLastClosedDay(deps.now()) + 1;
  const before = (await deps.stores.observationCache.getHistory('btcClose')).getFirstVersions(Number.MAX_SAFE_INTEGER);
  const previous = before.days.at(-1) === range.from - 1 ? before.values.at(-1) : undefined;
  const reaching = venues.filter((venue) => getFirstDay(venue, today) <= range.from);
  const fetchFrom = async (venue: VenueSource) => {
    const candles = await venue.fetchCandles(deps.providers[venue.provider], range);
    return { candles, closes: fillGaps(toCloses(candles), range, previous, venue.provider) };
  };
  await fetchWithFallback(reaching, { fetchFrom }, async ({ provider, value: { candles, closes } }) => {
    await saveHistory(deps, 'btcClose', provider, closes);
    await saveRanges(deps, 'btc', provider, candles);
  });
}

/** Carries the previous close over a few missing days. @throws OracleError FEED_INVALID naming the venue and the start of a longer gap */
function fillGaps(values: DatedValue[], { from, to }: DayRange, previous: number | undefined, venue: string): DatedValue[] {
  const byDay = new Map(values.map((value) => [value.day, value]));
  const filled: DatedValue[] = [];
  let last = previous;
  let carried = 0;
  for (let day = from; day <= to; day++) {
    const found = byDay.get(day);
    carried = found ? 0 : carried + 1;
    if (found === undefined && last === undefined) continue;
    if (carried > MAX_CARRIED_DAYS)
      throw new OracleError('FEED_INVALID', `${venue}: no close of ${formatDay(day - carried + 1)} and after`);
    last = found?.value ?? last!;
    filled.push(found ?? { day, value: last, providerAtMs: null });
  }
  return filled;
}

/** The stored progress of this item fixes `windowStart`. */
export const AGREED_CLOSES_ID = 'btcClose/venues';

/** The agreed closes since `windowStart`; requires the closes of the venues. */
export function createAgreedCloseItem(deps: BackfillDeps): BackfillItem {
  const to = getLastClosedDay(deps.now());
  const from = deps.windowStart;
  return {
    id: AGREED_CLOSES_ID,
    from,
    to,
    pageDays: to - from + 1,
    required: true,
    async fetch(range) {
      const waiting = await agreeOnCloses(deps, range, deps.now(), true);
      // The closes poll fetches yesterday's close, which may be late.
      if (waiting !== null && waiting < range.to) {
        throw new OracleError('FEED_UNAVAILABLE', `no venue has a close of ${formatDay(waiting)}`);
      }
    },
  };
}

// The items of closes fetch the ranges of the same candles and advance these items along; what remains are the days whose closes were
// stored without ranges.

const LONG_RANGES_ID = 'btcRange/history';

function getVenueRangeId({ provider }: Pick<VenueSource, 'provider'>): string {
  return `venueRange/${provider}`;
}

export function createVenueRangeItem(venue: VenueSource, deps: BackfillDeps): BackfillItem {
  return {
    id: getVenueRangeId(venue),
    ...getVenuePart(venue, deps),
    fetch: async (range) => saveRanges(deps, 'venue', venue.provider, await fetchTrustedCandles(venue, range, deps)),
  };
}

/** The ranges before `windowStart`, from the available venue with the longest history. */
export function createLongRangeItem(venues: readonly VenueSource[], deps: BackfillDeps): BackfillItem {
  const today = getLastClosedDay(deps.now()) + 1;
  return {
    id: LONG_RANGES_ID,
    from: FIRST_LIVE_DAY,
    to: deps.windowStart - 1,
    pageDays: Math.min(...venues.map((venue) => venue.pageDays)),
    required: false,
    async fetch(range) {
      const reaching = venues.filter((venue) => getFirstDay(venue, today) <= range.from);
      const fetchFrom = (venue: VenueSource) => venue.fetchCandles(deps.providers[venue.provider], range);
      await fetchWithFallback(reaching, { fetchFrom }, ({ provider, value }) => saveRanges(deps, 'btc', provider, value));
    },
  };
}

/** The agreed ranges since `windowStart`; requires the ranges of the venues. */
export function createAgreedRangeItem(venues: readonly VenueSource[], deps: BackfillDeps): BackfillItem {
  const [from, to] = [deps.windowStart, getLastClosedDay(deps.now())];
  return {
    id: AGREED_RANGES_ID,
    from,
    to,
    pageDays: to - from + 1,
    required: false,
    async fetch(range) {
      const missing = await agreeOnRanges(deps, range, deps.now(), true);
      const complete = await deps.stores.backfills.countDone(venues.map(getVenueRangeId));
      if (missing.length === 0 || complete >= Math.min(deps.quorum.minVenues, venues.length)) return;
      throw new OracleError('FEED_UNAVAILABLE', `${missing.length} days have no agreed range, and ${complete} venues are complete`);
    },
  };
}

/** Without the items of venues that have just failed to return closes: the same request again would only open their circuits. */
export function selectFetchable(rangeItems: readonly BackfillItem[], missing: readonly Pick<BackfillItem, 'id'>[]): BackfillItem[] {
  const failed = new Set(missing.map(({ id }) => id));
  return rangeItems.filter(({ id }) => !failed.has(id.replace('Range/', 'Close/')));
}

/** Of a venue, or of the model's series. */
export async function saveRanges(
  deps: BackfillDeps,
  of: 'venue' | 'btc',
  provider: string,
  candles: readonly DailyCandle[],
): Promise<void> {
  const { highs, lows } = toExtremes(candles);
  await saveHistory(deps, `${of}High`, provider, highs);
  await saveHistory(deps, `${of}Low`, provider, lows);
}

/** One part of the history, fetched page by page. */
export interface BackfillItem {
  id: string;
  from: Day;
  to: Day;
  pageDays: number;
  /** True when no forecast is possible without it. */
  required: boolean;
  /** Fetches and stores one page, idempotently. @throws OracleError FEED_UNAVAILABLE, FEED_INVALID */
  fetch(range: DayRange): Promise<void>;
}

export interface BackfillProgress {
  done: number;
  total: number;
  label: string;
}

interface BackfillOptions {
  backfills: BackfillStore;
  onProgress(progress: BackfillProgress): void;
  signal: AbortSignal;
}

export type MissingHistory = Pick<BackfillItem, 'id' | 'required'> & { reason: string };

/**
 * Fetches the remaining pages of all items, items in parallel, pages oldest first. Each page is stored before the progress advances, so
 * that an interrupted run resumes.
 * @returns the items that are incomplete and need a retry
 */
export async function runBackfill(items: readonly BackfillItem[], options: BackfillOptions): Promise<MissingHistory[]> {
  const candidates = await Promise.all(items.map((item) => findPending(item, options.backfills)));
  const pending = candidates.filter((part) => part !== null);
  const total = pending.reduce((sum, { pages }) => sum + pages.length, 0);
  let done = 0;
  const tick = (label: string) => options.onProgress({ done: ++done, total, label });
  const missing = await Promise.all(pending.map((part) => runItem(part, options, tick)));
  return missing.filter((part) => part !== null);
}

async function findPending(item: BackfillItem, backfills: BackfillStore) {
  const { through, done } = await backfills.begin(item.id, item.from);
  return done ? null : { item, pages: splitRange({ from: through + 1, to: item.to }, item.pageDays) };
}

async function runItem(
  { item, pages }: { item: BackfillItem; pages: DayRange[] },
  { backfills, signal }: BackfillOptions,
  tick: (label: string) => void,
): Promise<MissingHistory | null> {
  try {
    for (const page of pages) {
      signal.throwIfAborted();
      await item.fetch(page);
      await backfills.advance(item.id, page.to);
      tick(item.id);
    }
    await backfills.finish(item.id);
    return null;
  } catch (error) {
    if (!isOracleError(error, 'FEED_UNAVAILABLE') && !isOracleError(error, 'FEED_INVALID')) throw error;
    return { id: item.id, required: item.required, reason: getErrorMessage(error) };
  }
}

export interface BackfillDeps extends CollectDeps {
  /** Earlier closes come from one venue. Fixed by the first attempt: a window moving with the clock would leave days to neither item. */
  windowStart: Day;
}

/** Backfilled values count as known since their publication; unpublished values since their reception. */
async function saveHistory(deps: BackfillDeps, stream: ObservationStream, provider: string, values: readonly DatedValue[]): Promise<void> {
  await deps.stores.observations.save(stream, provider, values, { receivedAtMs: deps.now(), backfilled: true });
  await deps.stores.observationCache.invalidate(stream);
}

export function createSeriesItem(series: SeriesId, { sources }: SeriesPlan, deps: BackfillDeps): BackfillItem {
  const today = getLastClosedDay(deps.now()) + 1;
  return {
    id: series,
    from: Math.min(...sources.map((source) => getFirstDay(source, today))),
    to: today,
    pageDays: Math.max(...sources.map((source) => source.pageDays)),
    required: false,
    async fetch(range) {
      const reaching = sources.filter((source) => getFirstDay(source, today) <= range.from);
      const candidates = reaching.length > 0 ? reaching : sources;
      const query = { fetchFrom: (source: SeriesSource) => fetchRange(source, range, deps, today) };
      await fetchWithFallback(candidates, query, ({ provider, value }) => saveHistory(deps, series, provider, value));
    },
  };
}

/** The flows of one source: histories differ, so no source completes another. */
function createEtfItem(source: EtfSource, deps: BackfillDeps): BackfillItem {
  const today = getLastClosedDay(deps.now()) + 1;
  const from = getFirstDay(source, today);
  return {
    id: `etfFlow/${source.provider}`,
    from,
    to: today,
    pageDays: today - from + 1,
    required: false,
    async fetch(range) {
      const days = await source.fetch(deps.providers[source.provider], range);
      for (const [stream, values] of toFlowStreams(days)) await saveHistory(deps, stream, source.provider, values);
    },
  };
}
