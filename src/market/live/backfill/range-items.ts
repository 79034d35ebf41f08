import { OracleError } from '../../../platform/errors.ts';
import { getFirstDay } from '../collect/day-ranges.ts';
import { fetchWithFallback } from '../collect/fetch-with-fallback.ts';
import { getLastClosedDay } from '../collect/venues/agree-on-closes.ts';
import { AGREED_RANGES_ID, agreeOnRanges } from '../collect/venues/agree-on-ranges.ts';
import { toExtremes } from '../collect/venues/candle-values.ts';
import { fetchTrustedCandles } from '../collect/venues/fetch-trusted-candles.ts';
import { FIRST_LIVE_DAY } from '../feed.ts';
import type { DailyCandle, VenueSource } from '../sources/source.ts';
import type { BackfillItem } from './run-backfill.ts';
import { type BackfillDeps, saveHistory } from './save-history.ts';

// The items of closes fetch the ranges of the same candles and advance these items along; what remains are the days whose closes were
// stored without ranges.

export const LONG_RANGES_ID = 'btcRange/history';

export function getVenueRangeId({ provider }: Pick<VenueSource, 'provider'>): string {
  return `venueRange/${provider}`;
}

export function createVenueRangeItem(venue: VenueSource, deps: BackfillDeps): BackfillItem {
  const to = getLastClosedDay(deps.now());
  return {
    id: getVenueRangeId(venue),
    from: Math.max(getFirstDay(venue, to + 1), deps.windowStart),
    to,
    pageDays: venue.pageDays,
    required: false,
    fetch: async (range) => saveVenueRanges(deps, venue.provider, await fetchTrustedCandles(venue, range, deps)),
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
      await fetchWithFallback(reaching, { fetchFrom }, ({ provider, value }) => saveLongRanges(deps, provider, value));
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

export async function saveVenueRanges(deps: BackfillDeps, provider: string, candles: readonly DailyCandle[]): Promise<void> {
  const { highs, lows } = toExtremes(candles);
  await saveHistory(deps, 'venueHigh', provider, highs);
  await saveHistory(deps, 'venueLow', provider, lows);
}

export async function saveLongRanges(deps: BackfillDeps, provider: string, candles: readonly DailyCandle[]): Promise<void> {
  const { highs, lows } = toExtremes(candles);
  await saveHistory(deps, 'btcHigh', provider, highs);
  await saveHistory(deps, 'btcLow', provider, lows);
}
