import { getErrorMessage, isOracleError, OracleError } from '../../errors.ts';
import { type Day, formatDay, HOUR_MS, MINUTE_MS, toDay, toInstantMs } from '../../forecast/day.ts';
import type { PriceRange } from '../feed.ts';
import { computeQuorumPrice, findQuorumPrice, median, type QuorumRule, type VenueRange } from '../quorum.ts';
import { getNextPublicationMs, SERIES, type SeriesId } from '../series.ts';
import {
  type DailyCandle,
  type DatedValue,
  type DayRange,
  type EtfDay,
  type EtfSource,
  getFirstDay,
  type SeriesSource,
  type VenueSource,
} from '../sources/source.ts';
import type { ObservationStream } from './observations.ts';
import { PROVIDERS, type Provider, type ProviderId } from './provider.ts';
import type { LiveStores, SpotDoc } from './store.ts';

type FlowStream = 'etfFlow' | `fundFlow.${string}`;

/** The poll `etfFlow` stores totals and any flows of single funds, `fundFlows` flows of single funds only. The primary source first. */
export function createEtfPoll(
  { id, sources, everyMs }: { id: 'etfFlow' | 'fundFlows'; sources: readonly EtfSource[]; everyMs: number },
  deps: CollectDeps,
): Poll {
  const isWanted = (stream: FlowStream) => id === 'etfFlow' || stream !== 'etfFlow';
  return {
    id,
    everyMs,
    retryMs: everyMs / 8,
    async run(nowMs) {
      const today = toDay(nowMs);
      const range = { from: Math.min((await findLastStoredDay(id, deps)) ?? today, today) - OVERLAP_DAYS, to: today };
      const fetchFlows = async (source: EtfSource) => {
        const reachable = clampToReach(source, range, today);
        const days = reachable === null ? [] : await source.fetch(deps.providers[source.provider], reachable);
        return new Map([...toFlowStreams(days)].filter(([stream]) => isWanted(stream)));
      };
      const findProblem = (streams: Map<FlowStream, DatedValue[]>) =>
        [...streams.values()].flat().some(({ day }) => today - day <= SERIES.etfFlow.staleDays)
          ? null
          : `it has no ${id === 'etfFlow' ? 'flows' : 'flows of single funds'} of the last week`;
      await fetchWithFallback(sources, { fetchFrom: fetchFlows, findProblem }, async ({ provider, value }) => {
        for (const [stream, values] of value) await saveValues(deps, stream, provider, values);
      });
      return getNextPollMs('etfFlow', nowMs);
    },
  };
}

/** The last day with a final value; for `fundFlows`, the maximum over the funds. */
async function findLastStoredDay(
  id: 'etfFlow' | 'fundFlows',
  { stores: { observationCache, observations } }: CollectDeps,
): Promise<Day | null> {
  if (id === 'etfFlow') return (await observationCache.getHistory(id)).getLastFinalDay();
  const streams = await observations.listFundStreams();
  const days = await Promise.all(streams.map(async (stream) => (await observationCache.getHistory(stream)).getLastFinalDay()));
  const known = days.filter((day) => day !== null);
  return known.length === 0 ? null : Math.max(...known);
}

export function toFlowStreams(days: readonly EtfDay[]): Map<FlowStream, DatedValue[]> {
  const streams = new Map<FlowStream, DatedValue[]>([['etfFlow', []]]);
  for (const { day, totalMusd, fundsMusd } of days) {
    streams.get('etfFlow')!.push({ day, value: totalMusd, providerAtMs: null });
    for (const [ticker, value] of Object.entries(fundsMusd ?? {})) {
      const stream = `fundFlow.${ticker}` as const;
      streams.set(stream, [...(streams.get(stream) ?? []), { day, value, providerAtMs: null }]);
    }
  }
  return streams;
}

/** Splits a range into pages of at most `pageDays` days, oldest first. */
export function splitRange({ from, to }: DayRange, pageDays: number): DayRange[] {
  const pages: DayRange[] = [];
  for (let start = from; start <= to; start += pageDays) pages.push({ from: start, to: Math.min(to, start + pageDays - 1) });
  return pages;
}

function clampToReach(source: Pick<SeriesSource, 'history'>, { from, to }: DayRange, today: Day): DayRange | null {
  const start = Math.max(from, getFirstDay(source, today));
  return start <= to ? { from: start, to } : null;
}

export interface CollectDeps {
  stores: LiveStores;
  providers: Record<ProviderId, Provider>;
  now(): number;
  venues: readonly ProviderId[];
  quorum: QuorumRule;
}

/**
 * Queries sources in order until one returns an acceptable result, without a problem. Inferior results are saved as well, since they are
 * better than none.
 * @throws OracleError FEED_UNAVAILABLE with the reason of each source; any error other than FEED_UNAVAILABLE and FEED_INVALID
 */
export async function fetchWithFallback<Source extends { provider: ProviderId }, Value>(
  sources: readonly Source[],
  { fetchFrom, findProblem }: { fetchFrom(source: Source): Promise<Value>; findProblem?(value: Value): string | null },
  save: (result: { provider: ProviderId; value: Value }) => Promise<void>,
): Promise<void> {
  const reasons: string[] = [];
  for (const source of sources) {
    try {
      const value = await fetchFrom(source);
      await save({ provider: source.provider, value });
      const problem = findProblem?.(value) ?? null;
      if (problem === null) return;
      reasons.push(`${source.provider}: ${problem}`);
    } catch (error) {
      if (!isOracleError(error, 'FEED_UNAVAILABLE') && !isOracleError(error, 'FEED_INVALID')) throw error;
      reasons.push(getErrorMessage(error));
    }
  }
  throw new OracleError('FEED_UNAVAILABLE', reasons.join('; ') || 'no source reaches that far');
}

export interface Poll {
  id: string;
  everyMs: number;
  /** First delay after a failure; doubles with each consecutive failure up to `everyMs`. */
  retryMs: number;
  /** Another worker may claim the poll after this time; default 5 minutes. */
  leaseMs?: number;
  /** Fetches and stores. @returns the latest time (ms) of the next run, if earlier than `everyMs`. @throws OracleError FEED_UNAVAILABLE */
  run(nowMs: number): Promise<number | undefined>;
}

export interface SeriesPlan {
  /** The primary first. */
  sources: readonly SeriesSource[];
  everyMs: number;
}

/** Each poll fetches some days again to pick up late values and revisions. */
const OVERLAP_DAYS = 10;
/** Delay of providers after their scheduled publication. */
const PUBLICATION_GRACE_MS = 2 * 60_000;

export function createSeriesPoll(series: SeriesId, plan: SeriesPlan, deps: CollectDeps): Poll {
  return {
    id: series,
    everyMs: plan.everyMs,
    retryMs: Math.max(60_000, plan.everyMs / 8),
    async run(nowMs) {
      const today = toDay(nowMs);
      const last = (await deps.stores.observationCache.getHistory(series)).getLastFinalDay();
      const range = { from: Math.min(last ?? today, today) - OVERLAP_DAYS, to: today };
      await fetchWithFallback(
        plan.sources,
        { fetchFrom: (source) => fetchRange(source, range, deps, today), findProblem: (values) => findStaleProblem(series, values, today) },
        ({ provider, value }) => saveValues(deps, series, provider, value),
      );
      return getNextPollMs(series, nowMs);
    },
  };
}

export async function fetchRange(source: SeriesSource, wanted: DayRange, { providers }: CollectDeps, today: Day): Promise<DatedValue[]> {
  const range = clampToReach(source, wanted, today);
  if (range === null) return [];
  const values: DatedValue[] = [];
  for (const page of splitRange(range, source.pageDays)) values.push(...(await source.fetch(providers[source.provider], page)));
  return values;
}

/** Stores values, by default as received now, and invalidates the cache of this process. */
async function saveValues(
  { stores, now }: CollectDeps,
  stream: ObservationStream,
  provider: string,
  values: DatedValue[],
  options = { receivedAtMs: now(), backfilled: false },
): Promise<void> {
  const changed = await stores.observations.save(stream, provider, values, options);
  if (changed > 0) await stores.observationCache.invalidate(stream);
}

/** The next publication of the series plus the grace period. */
function getNextPollMs(series: SeriesId, nowMs: number): number {
  return getNextPublicationMs(series, nowMs - PUBLICATION_GRACE_MS) + PUBLICATION_GRACE_MS;
}

function findStaleProblem(series: SeriesId, values: readonly DatedValue[], today: Day): string | null {
  const newest = values.reduce((latest, { day }) => Math.max(latest, day), Number.NEGATIVE_INFINITY);
  if (today - newest <= SERIES[series].staleDays) return null;
  return Number.isFinite(newest) ? `its newest value of ${series} is of ${formatDay(newest)}` : `it has no recent value of ${series}`;
}

const MAX_AGE_MS = 5 * MINUTE_MS;
/** The timestamps of a venue are untrusted when its clock is further ahead. */
const MAX_CLOCK_AHEAD_MS = 2 * MINUTE_MS;

type VenuePrice = Awaited<ReturnType<typeof fetchVenuePrice>>;

/** Stores the price that a quorum of venues agrees on each minute, by the rule of closes. Without one the last price stays, and ages. */
export function createSpotPoll(venues: readonly VenueSource[], { stores, providers, now, quorum }: CollectDeps): Poll {
  return {
    id: 'spot',
    everyMs: MINUTE_MS,
    retryMs: MINUTE_MS,
    leaseMs: MINUTE_MS,
    async run() {
      const { values: prices, failed } = await settle(venues.map((venue) => fetchVenuePrice(venue, providers[venue.provider], now)));
      await stores.spots.save(agreeOnSpot(prices, { quorum, failed, receivedAtMs: now() }));
      return undefined;
    },
  };
}

/** What the venues answer, and why others do not. @throws an error that is not an OracleError */
async function settle<Value>(pending: readonly Promise<Value>[]): Promise<{ values: Value[]; failed: unknown[] }> {
  const answers = await Promise.allSettled(pending);
  const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  const unexpected = failed.find((reason) => !(reason instanceof OracleError));
  if (unexpected !== undefined) throw unexpected;
  return { values: answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])), failed };
}

async function fetchVenuePrice(venue: VenueSource, provider: Provider, now: () => number) {
  const { priceUsd, providerAtMs, change24hPct } = await venue.fetchTicker(provider);
  const receivedAtMs = now();
  const ageMs = receivedAtMs - (providerAtMs ?? receivedAtMs);
  const { title } = PROVIDERS[venue.provider];
  if (ageMs > MAX_AGE_MS) throw new OracleError('FEED_UNAVAILABLE', `${title}: its price is ${Math.round(ageMs / MINUTE_MS)} minutes old`);
  if (ageMs < -MAX_CLOCK_AHEAD_MS)
    throw new OracleError('FEED_INVALID', `${title}: its clock is ${Math.round(-ageMs / 1_000)} s ahead of ours`);
  return { venue: venue.provider, priceUsd, observedAtMs: receivedAtMs - Math.max(0, ageMs), change24hPct };
}

/**
 * `failed` is why the other venues have no price.
 * @throws OracleError FEED_UNAVAILABLE with the price and age of each venue when no quorum agrees
 */
function agreeOnSpot(
  prices: readonly VenuePrice[],
  { quorum, failed, receivedAtMs }: { quorum: QuorumRule; failed: readonly unknown[]; receivedAtMs: number },
): Omit<SpotDoc, '_id'> {
  try {
    const { priceUsd, venues } = computeQuorumPrice(prices, quorum);
    const used = prices.filter(({ venue }) => venues.includes(venue));
    const changes = used.flatMap(({ change24hPct }) => (change24hPct === null ? [] : [change24hPct]));
    return {
      priceUsd,
      observedAtMs: Math.min(...used.map(({ observedAtMs }) => observedAtMs)),
      receivedAtMs,
      change24hPct: changes.length > 0 ? median(changes) : null,
      venues: used.map(({ venue, priceUsd: venueUsd, observedAtMs }) => ({ venue, priceUsd: venueUsd, observedAtMs })),
    };
  } catch (error) {
    if (!isOracleError(error, 'PRICE_UNAVAILABLE')) throw error;
    const known = prices.map(({ venue, priceUsd, observedAtMs }) => {
      return `${venue} ${priceUsd} USD, ${Math.round((receivedAtMs - observedAtMs) / 1_000)} s old`;
    });
    const { minVenues, maxDeviationBps } = quorum;
    const rule = `the price waits for ${minVenues} venues within ${maxDeviationBps / 100} %`;
    throw new OracleError('FEED_UNAVAILABLE', [rule, ...known, ...failed.map(getErrorMessage)].join('; '), { cause: error });
  }
}

/** Hours from 00:00 UTC of the day until the model's series accepts closes without a quorum, in time for the next signal at 21:35. */
const LENIENT_AFTER_HOURS = 44;

/** Whether the model's series still waits for a quorum on a day. */
function isAwaitingQuorum(day: Day, nowMs: number): boolean {
  return nowMs < toInstantMs(day, LENIENT_AFTER_HOURS);
}

/**
 * Extends the model's daily closes day by day: the quorum price, or hours later the median of the available venues. Outcomes are never
 * resolved with the latter.
 * @returns the first day without a price; null when all have one
 */
export async function agreeOnCloses(deps: CollectDeps, range: DayRange, nowMs: number, backfilled: boolean): Promise<Day | null> {
  const venues = await deps.stores.observationCache.getHistory('venueClose');
  const agreed: DatedValue[] = [];
  let waiting: Day | null = null;
  for (let day = range.from; day <= range.to && waiting === null; day++) {
    const price = await agreeOnPrice(deps, day, venues.getFinalValues(day, nowMs), nowMs);
    if (price === null) waiting = day;
    else agreed.push({ day, value: price, providerAtMs: toInstantMs(day + 1) });
  }
  await saveValues(deps, 'btcClose', 'venues', agreed, { receivedAtMs: nowMs, backfilled });
  return waiting;
}

async function agreeOnPrice(deps: CollectDeps, day: Day, known: Map<string, number>, nowMs: number): Promise<number | null> {
  const closes = deps.venues.map((venue) => ({ venue, priceUsd: known.get(venue) ?? null }));
  const strict = findQuorumPrice(closes, deps.quorum);
  if (strict !== null) return (await deps.stores.closes.pin({ day, ...strict })).priceUsd;
  if (isAwaitingQuorum(day, nowMs)) return null;
  return findQuorumPrice(closes, { minVenues: 1, maxDeviationBps: Number.POSITIVE_INFINITY })?.priceUsd ?? null;
}

/** The last UTC day that is over. */
export function getLastClosedDay(nowMs: number): Day {
  return toDay(nowMs) - 1;
}

/** Time for venues to finalize a candle. */
const CANDLE_GRACE_MS = MINUTE_MS;
/** Missed closes of a venue are fetched this far back; further while the agreed closes need them. */
const LOOKBACK_DAYS = 30;

export function createClosesPoll(venues: readonly VenueSource[], deps: CollectDeps): Poll {
  return {
    id: 'closes',
    everyMs: HOUR_MS,
    retryMs: MINUTE_MS,
    async run(nowMs) {
      const to = getLastClosedDay(nowMs);
      const last = (await deps.stores.observationCache.getHistory('btcClose')).getLastFinalDay();
      const from = Math.min(to - LOOKBACK_DAYS, (last ?? to) + 1);
      const answers = await Promise.allSettled(venues.map((venue) => collectVenue(venue, { from, to }, deps)));
      const waiting = last === null ? null : await agreeOnCloses(deps, { from: last + 1, to }, deps.now(), false);
      await agreeOnNewRanges(deps, to);
      for (const answer of answers) if (answer.status === 'rejected' && !(answer.reason instanceof OracleError)) throw answer.reason;
      if (waiting !== null) throw new OracleError('FEED_UNAVAILABLE', `too few venues agree on the close of ${formatDay(waiting)}`);
      return toInstantMs(to + 2) + CANDLE_GRACE_MS;
    },
  };
}

async function collectVenue(venue: VenueSource, { from, to }: DayRange, deps: CollectDeps): Promise<void> {
  const last = (await deps.stores.observationCache.getHistory('venueClose')).getLastFinalDay(venue.provider);
  if (last === to) return;
  const range = clampToReach(venue, { from: Math.max((last ?? 0) + 1, from), to }, to + 1);
  for (const page of range === null ? [] : splitRange(range, venue.pageDays)) {
    const candles = await fetchTrustedCandles(venue, page, deps);
    const { highs, lows } = toExtremes(candles);
    // Closes last: they mark the day as collected.
    await saveValues(deps, 'venueHigh', venue.provider, highs);
    await saveValues(deps, 'venueLow', venue.provider, lows);
    await saveValues(deps, 'venueClose', venue.provider, toCloses(candles));
  }
}

/** Closes never wait for a range. */
async function agreeOnNewRanges(deps: CollectDeps, to: Day): Promise<void> {
  if ((await deps.stores.backfills.countDone([AGREED_RANGES_ID])) === 0) return;
  const last = (await findLastRangeDay(deps.stores)) ?? to - LOOKBACK_DAYS;
  await agreeOnRanges(deps, { from: last + 1, to }, deps.now(), false);
}

/**
 * Stores the model's daily high and low of each day that venues agree on. A day without them stays without for good, unlike a close: the
 * model takes its squared return instead.
 * @returns the days without an agreed range that no longer wait for a quorum
 */
export async function agreeOnRanges(deps: CollectDeps, range: DayRange, nowMs: number, backfilled: boolean): Promise<Day[]> {
  const { observationCache } = deps.stores;
  const [highs, lows] = [await observationCache.getHistory('venueHigh'), await observationCache.getHistory('venueLow')];
  const agreed: (PriceRange & { day: Day })[] = [];
  const missing: Day[] = [];
  for (let day = range.from; day <= range.to; day++) {
    const isWaiting = isAwaitingQuorum(day, nowMs);
    const [high, low] = [highs.getFinalValues(day, nowMs), lows.getFinalValues(day, nowMs)];
    const known = deps.venues.flatMap((venue): VenueRange[] => {
      const [highUsd, lowUsd] = [high.get(venue), low.get(venue)];
      return highUsd === undefined || lowUsd === undefined ? [] : [{ venue, highUsd, lowUsd }];
    });
    const found = isWaiting ? findQuorumRange(known, deps.quorum) : findLenientRange(known, deps.quorum);
    if (found !== null) agreed.push({ day, ...found });
    else if (!isWaiting) missing.push(day);
  }
  for (const [stream, side] of [['btcHigh', 'highUsd'] as const, ['btcLow', 'lowUsd'] as const]) {
    const values = agreed.map(({ day, [side]: value }): DatedValue => ({ day, value, providerAtMs: toInstantMs(day + 1) }));
    await saveValues(deps, stream, 'venues', values, { receivedAtMs: nowMs, backfilled });
  }
  return missing;
}

/** A range that two venues agree on stands in for a quorum where the model can wait no longer. */
const MIN_LENIENT_VENUES = 2;
/**
 * Wider than the limit of closes: an extreme is a single trade, and in a fast minute the thinner books run 1 to 2 % further. A bad tick is
 * mostly further off than 3 %, and a smaller one hardly moves the median.
 */
const MAX_DEVIATION_BPS = 300;

/** Medians of the highs and of the lows that a quorum of venues agrees on, each without its outliers; null without both. */
export function findQuorumRange(ranges: readonly VenueRange[], { minVenues }: Pick<QuorumRule, 'minVenues'>): PriceRange | null {
  const rule = { minVenues, maxDeviationBps: MAX_DEVIATION_BPS };
  const highUsd = findQuorumPrice(toPrices(ranges, 'highUsd'), rule)?.priceUsd;
  const lowUsd = findQuorumPrice(toPrices(ranges, 'lowUsd'), rule)?.priceUsd;
  return highUsd === undefined || lowUsd === undefined || highUsd < lowUsd ? null : { highUsd, lowUsd };
}

/** As `findQuorumRange`, or else the range that at least two venues agree on. */
export function findLenientRange(ranges: readonly VenueRange[], rule: Pick<QuorumRule, 'minVenues'>): PriceRange | null {
  return findQuorumRange(ranges, rule) ?? findQuorumRange(ranges, { minVenues: Math.min(rule.minVenues, MIN_LENIENT_VENUES) });
}

function toPrices(ranges: readonly VenueRange[], side: keyof PriceRange) {
  return ranges.map((range) => ({ venue: range.venue, priceUsd: range[side] }));
}

/** The backfill of the agreed ranges. Until it is complete, a range agreed by a poll would count as known since its reception. */
export const AGREED_RANGES_ID = 'btcRange/venues';

/** The last day that has both an agreed high and low; null without one. */
async function findLastRangeDay({ observationCache }: LiveStores): Promise<Day | null> {
  const high = (await observationCache.getHistory('btcHigh')).getLastFinalDay();
  const low = (await observationCache.getHistory('btcLow')).getLastFinalDay();
  return high === null || low === null ? null : Math.min(high, low);
}

/** The closes of finished candles. */
export function toCloses(candles: readonly DailyCandle[]): DatedValue[] {
  return candles.flatMap(({ day, closeUsd, isFinished, providerAtMs }) => (isFinished ? [{ day, value: closeUsd, providerAtMs }] : []));
}

/** Highs and lows of the finished candles that have a valid range. */
export function toExtremes(candles: readonly DailyCandle[]): { highs: DatedValue[]; lows: DatedValue[] } {
  const ranged = candles.flatMap(({ day, range, isFinished, providerAtMs }) =>
    isFinished && range ? [{ day, ...range, providerAtMs }] : [],
  );
  return {
    highs: ranged.map(({ day, highUsd: value, providerAtMs }) => ({ day, value, providerAtMs })),
    lows: ranged.map(({ day, lowUsd: value, providerAtMs }) => ({ day, value, providerAtMs })),
  };
}

const MAX_SKEW_MS = 30_000;

/**
 * Fetches candles of a venue whose clock agrees with ours. If our clock ran ahead, a running candle would count as finished and resolve
 * outcomes.
 * @throws OracleError FEED_UNAVAILABLE when the range has the newest finished day or the running one and the clocks differ
 */
export async function fetchTrustedCandles(
  venue: VenueSource,
  range: DayRange,
  { providers, now }: Pick<CollectDeps, 'providers' | 'now'>,
): Promise<DailyCandle[]> {
  const provider = providers[venue.provider];
  const candles = await venue.fetchCandles(provider, range);
  const { clockSkewMs } = provider.health();
  if (range.to < getLastClosedDay(now()) || Math.abs(clockSkewMs ?? 0) <= MAX_SKEW_MS) return candles;
  const seconds = Math.round((clockSkewMs ?? 0) / 1_000);
  throw new OracleError('FEED_UNAVAILABLE', `${provider.title}: its clock differs from ours by ${seconds} s, so that no candle is certain`);
}

const EVERY_MS = 5 * MINUTE_MS;
/** Runs at 21:34, a minute before the signal, and four minutes into a new day. */
const OFFSET_MS = 4 * MINUTE_MS;

/** Stores the range of the running UTC day that the venues agree on, from one request of a candle each. */
export function createRangePoll(venues: readonly VenueSource[], deps: CollectDeps): Poll {
  return {
    id: 'rangeSoFar',
    everyMs: EVERY_MS,
    retryMs: MINUTE_MS,
    leaseMs: 2 * MINUTE_MS,
    async run(nowMs) {
      const day = toDay(nowMs);
      const { values, failed } = await settle(venues.map((venue) => fetchVenuePricesRange(venue, day, deps)));
      const ranges = values.filter((range) => range !== null);
      const agreed = findLenientRange(ranges, deps.quorum);
      if (agreed === null) throw disagreement(day, ranges, failed);
      await deps.stores.ranges.save({ day, ...agreed, receivedAtMs: deps.now(), venues: ranges });
      return Math.floor((nowMs - OFFSET_MS) / EVERY_MS + 1) * EVERY_MS + OFFSET_MS;
    },
  };
}

async function fetchVenuePricesRange(venue: VenueSource, day: Day, deps: CollectDeps): Promise<VenueRange | null> {
  const candles = await fetchTrustedCandles(venue, { from: day, to: day }, deps);
  const range = candles.find((candle) => candle.day === day)?.range ?? null;
  return range === null ? null : { venue: venue.provider, ...range };
}

function disagreement(day: Day, ranges: VenueRange[], failed: unknown[]): OracleError {
  const known = ranges.map(({ venue, highUsd, lowUsd }) => `${venue} ${lowUsd} to ${highUsd}`);
  const reasons = [...known, ...failed.map(getErrorMessage)].join('; ') || 'no venue has one';
  return new OracleError('FEED_UNAVAILABLE', `no two venues agree on the range of ${formatDay(day)} so far: ${reasons}`);
}
