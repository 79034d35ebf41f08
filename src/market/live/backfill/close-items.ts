import { formatDay } from '../../../forecast/day.ts';
import { OracleError } from '../../../platform/errors.ts';
import { getFirstDay } from '../collect/day-ranges.ts';
import { fetchWithFallback } from '../collect/fetch-with-fallback.ts';
import { agreeOnCloses, getLastClosedDay } from '../collect/venues/agree-on-closes.ts';
import { toCloses } from '../collect/venues/candle-values.ts';
import { fetchTrustedCandles } from '../collect/venues/fetch-trusted-candles.ts';
import { FIRST_LIVE_DAY } from '../feed.ts';
import type { DatedValue, DayRange, VenueSource } from '../sources/source.ts';
import { getVenueRangeId, LONG_RANGES_ID, saveLongRanges, saveVenueRanges } from './range-items.ts';
import type { BackfillItem } from './run-backfill.ts';
import { type BackfillDeps, saveHistory } from './save-history.ts';

/** Venues closed for some days in their early years; a longer gap is an error. */
const MAX_CARRIED_DAYS = 4;

/** The closes of a venue, and the ranges of the same candles. */
export function createVenueItem(venue: VenueSource, deps: BackfillDeps): BackfillItem {
  const to = getLastClosedDay(deps.now());
  return {
    id: `venueClose/${venue.provider}`,
    from: Math.max(getFirstDay(venue, to + 1), deps.windowStart),
    to,
    pageDays: venue.pageDays,
    required: false,
    async fetch(range) {
      const candles = await fetchTrustedCandles(venue, range, deps);
      await saveHistory(deps, 'venueClose', venue.provider, toCloses(candles));
      await saveVenueRanges(deps, venue.provider, candles);
      await deps.stores.backfills.advanceAlong(getVenueRangeId(venue), range);
    },
  };
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
    await saveLongRanges(deps, provider, candles);
  });
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
