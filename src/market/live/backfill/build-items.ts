import { type Day, formatDay } from '../../../forecast/day.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { SeriesId } from '../../series/series.ts';
import { type AgreementDeps, agreeOnCloses, getLastClosedDay } from '../collect/agree-on-closes.ts';
import { getFirstDay } from '../collect/day-ranges.ts';
import type { CollectDeps } from '../collect/deps.ts';
import { toFlowStreams } from '../collect/etf-poll.ts';
import { fetchTrustedCloses } from '../collect/fetch-trusted-closes.ts';
import { fetchWithFallback } from '../collect/fetch-with-fallback.ts';
import { fetchRange, type SeriesPlan } from '../collect/series-poll.ts';
import { FIRST_LIVE_DAY } from '../feed.ts';
import type { DatedValue, DayRange, EtfSource, SeriesSource, VenueSource } from '../sources/source.ts';
import type { ObservationStream } from '../store/observations/observation-stream.ts';
import type { BackfillItem } from './run-backfill.ts';

export interface BackfillDeps extends CollectDeps, AgreementDeps {
  /** Earlier closes come from one venue. Fixed by the first attempt: a window moving with the clock would leave days to neither item. */
  windowStart: Day;
}

/** Venues closed for some days in their early years; a longer gap is an error. */
const MAX_CARRIED_DAYS = 4;

export function createVenueItem(venue: VenueSource, deps: BackfillDeps): BackfillItem {
  const to = getLastClosedDay(deps.now());
  return {
    id: `venueClose/${venue.provider}`,
    from: Math.max(getFirstDay(venue, to + 1), deps.windowStart),
    to,
    pageDays: venue.pageDays,
    required: false,
    fetch: async (range) => saveHistory(deps, 'venueClose', venue.provider, await fetchTrustedCloses(venue, range, deps)),
  };
}

/** The closes before `windowStart`, from the available venue with the longest history. */
export function createLongCloseItem(venues: readonly VenueSource[], deps: BackfillDeps): BackfillItem {
  return {
    id: 'btcClose/history',
    from: FIRST_LIVE_DAY,
    to: deps.windowStart - 1,
    pageDays: Math.min(...venues.map((venue) => venue.pageDays)),
    required: true,
    fetch: (range) => fetchLongCloses(venues, range, deps),
  };
}

async function fetchLongCloses(venues: readonly VenueSource[], range: DayRange, deps: BackfillDeps): Promise<void> {
  const today = getLastClosedDay(deps.now()) + 1;
  const before = (await deps.stores.observationCache.getHistory('btcClose')).getFirstVersions(Number.MAX_SAFE_INTEGER);
  const previous = before.days.at(-1) === range.from - 1 ? before.values.at(-1) : undefined;
  const reaching = venues.filter((venue) => getFirstDay(venue, today) <= range.from);
  const fetchFrom = async (venue: VenueSource) =>
    fillGaps(await venue.fetchCloses(deps.providers[venue.provider], range), range, previous, venue.provider);
  await fetchWithFallback(reaching, { fetchFrom }, ({ provider, value }) => saveHistory(deps, 'btcClose', provider, value));
}

/** Carries the previous close over a few missing days. @throws OracleError FEED_INVALID naming the venue and the start of a longer gap */
export function fillGaps(values: DatedValue[], { from, to }: DayRange, previous: number | undefined, venue: string): DatedValue[] {
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
export function createEtfItem(source: EtfSource, deps: BackfillDeps): BackfillItem {
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

/** Backfilled values count as known since their publication; unpublished values since their reception. */
async function saveHistory(deps: BackfillDeps, stream: ObservationStream, provider: string, values: readonly DatedValue[]): Promise<void> {
  await deps.stores.observations.save(stream, provider, values, { receivedAtMs: deps.now(), backfilled: true });
  await deps.stores.observationCache.invalidate(stream);
}
