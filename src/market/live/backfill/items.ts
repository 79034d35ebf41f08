import { OracleError } from '../../../errors.ts';
import { type Day, formatDay } from '../../../forecast/day.ts';
import type { SeriesId } from '../../series.ts';
import { type AgreeParts, agreeOnCloses, lastDayClosed } from '../collect/agree.ts';
import { flowStreams } from '../collect/etf-poll.ts';
import { firstAnswer } from '../collect/first-answer.ts';
import { reachOf } from '../collect/pages.ts';
import { type CollectParts, fetchRange, type SeriesPlan } from '../collect/series-poll.ts';
import { trustedCloses } from '../collect/trusted-closes.ts';
import { FIRST_LIVE_DAY } from '../feed.ts';
import type { DatedValue, DayRange, EtfSource, SeriesSource, VenueSource } from '../source.ts';
import type { Stream } from '../streams.ts';
import type { BackfillItem } from './item.ts';

export interface BackfillParts extends CollectParts, AgreeParts {
  /**
   * First day for which the closes of all venues are wanted, and agreed on; before it one venue's do. Fixed with the first attempt:
   * a window that moved with the clock would leave days to neither part.
   */
  windowStart: Day;
}

/** Venues were shut for days now and then in their early years; over a longer gap no price is made up. */
const MAX_CARRIED_DAYS = 4;

/** The closes of one venue. */
export function venueItem(venue: VenueSource, parts: BackfillParts): BackfillItem {
  const to = lastDayClosed(parts.now());
  return {
    id: `venueClose/${venue.provider}`,
    from: Math.max(reachOf(venue, to + 1), parts.windowStart),
    to,
    pageDays: venue.pageDays,
    required: false,
    fetch: async (range) => keepHistory(parts, 'venueClose', venue.provider, await trustedCloses(venue, range, parts)),
  };
}

/** The closes before the venues' common window, from the venue with the longest history that answers. */
export function longCloseItem(venues: readonly VenueSource[], parts: BackfillParts): BackfillItem {
  const to = parts.windowStart - 1;
  const pageDays = Math.min(...venues.map((venue) => venue.pageDays));
  return {
    id: 'btcClose/history',
    from: FIRST_LIVE_DAY,
    to,
    pageDays,
    required: true,
    fetch: (range) => fetchLongCloses(venues, range, parts),
  };
}

async function fetchLongCloses(venues: readonly VenueSource[], range: DayRange, parts: BackfillParts): Promise<void> {
  const today = lastDayClosed(parts.now()) + 1;
  const before = (await parts.stores.memory.stream('btcClose')).first(Number.MAX_SAFE_INTEGER);
  const previous = before.days.at(-1) === range.from - 1 ? before.values.at(-1) : undefined;
  const reaching = venues.filter((venue) => reachOf(venue, today) <= range.from);
  await firstAnswer(
    reaching,
    { ask: async (venue) => withoutGaps(await venue.closes(parts.providers[venue.provider], range), range, previous, venue.provider) },
    ({ provider, value }) => keepHistory(parts, 'btcClose', provider, value),
  );
}

/**
 * Each day of a range with its close. A few days without trade carry the close before them.
 * @throws OracleError FEED_INVALID naming the venue and the first of too many missing days
 */
export function withoutGaps(values: DatedValue[], { from, to }: DayRange, previous: number | undefined, venue: string): DatedValue[] {
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

/** The progress of the agreed closes: it begins where the window does. */
export const AGREED_ID = 'btcClose/venues';

/** What the venues agree on within their common window; after their own closes have been fetched. */
export function agreedCloseItem(parts: BackfillParts): BackfillItem {
  const to = lastDayClosed(parts.now());
  const from = parts.windowStart;
  return {
    id: AGREED_ID,
    from,
    to,
    pageDays: to - from + 1,
    required: true,
    async fetch(range) {
      const waiting = await agreeOnCloses(parts, range, parts.now(), true);
      // Yesterday's close may take a while: the ordinary poll brings it.
      if (waiting !== null && waiting < range.to) {
        throw new OracleError('FEED_UNAVAILABLE', `no venue tells its close of ${formatDay(waiting)}`);
      }
    },
  };
}

/** A series from the first day that any of its sources reaches. */
export function seriesItem(series: SeriesId, { sources }: SeriesPlan, parts: BackfillParts): BackfillItem {
  const today = lastDayClosed(parts.now()) + 1;
  return {
    id: series,
    from: Math.min(...sources.map((source) => reachOf(source, today))),
    to: today,
    pageDays: Math.max(...sources.map((source) => source.pageDays)),
    required: false,
    async fetch(range) {
      const reaching = sources.filter((source) => reachOf(source, today) <= range.from);
      const asked = reaching.length > 0 ? reaching : sources;
      const question = { ask: (source: SeriesSource) => fetchRange(source, range, parts, today) };
      await firstAnswer(asked, question, ({ provider, value }) => keepHistory(parts, series, provider, value));
    },
  };
}

/** The flows of the funds, from one source: each reaches back another way, and none is complete for another. */
export function etfItem(source: EtfSource, parts: BackfillParts): BackfillItem {
  const today = lastDayClosed(parts.now()) + 1;
  const from = reachOf(source, today);
  return {
    id: `etfFlow/${source.provider}`,
    from,
    to: today,
    pageDays: today - from + 1,
    required: false,
    async fetch(range) {
      const days = await source.fetch(parts.providers[source.provider], range);
      for (const [stream, values] of flowStreams(days)) await keepHistory(parts, stream, source.provider, values);
    },
  };
}

/** What was public before anybody could ask counts as known since its publication; the newest, unpublished values do not. */
async function keepHistory(parts: BackfillParts, stream: Stream, provider: string, values: readonly DatedValue[]): Promise<void> {
  await parts.stores.observations.save(stream, provider, values, { receivedAtMs: parts.now(), backfilled: true });
  await parts.stores.memory.forget(stream);
}
