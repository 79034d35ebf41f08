import { type Day, formatDay, toInstantMs } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { DayRange, VenueSource } from '../../sources/source.ts';
import { clampToReach, splitRange } from '../day-ranges.ts';
import type { CollectDeps } from '../deps.ts';
import type { Poll } from '../poll.ts';
import { saveValues } from '../series-poll.ts';
import { type AgreementDeps, agreeOnCloses, getLastClosedDay } from './agree-on-closes.ts';
import { AGREED_RANGES_ID, agreeOnRanges, findLastRangeDay } from './agree-on-ranges.ts';
import { toCloses, toExtremes } from './candle-values.ts';
import { fetchTrustedCandles } from './fetch-trusted-candles.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Time for venues to finalize a candle. */
const CANDLE_GRACE_MS = MINUTE_MS;
/** Missed closes of a venue are fetched this far back; further while the agreed closes need them. */
const LOOKBACK_DAYS = 30;

export function createClosesPoll(venues: readonly VenueSource[], deps: CollectDeps & AgreementDeps): Poll {
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
async function agreeOnNewRanges(deps: CollectDeps & AgreementDeps, to: Day): Promise<void> {
  if ((await deps.stores.backfills.countDone([AGREED_RANGES_ID])) === 0) return;
  const last = (await findLastRangeDay(deps.stores)) ?? to - LOOKBACK_DAYS;
  await agreeOnRanges(deps, { from: last + 1, to }, deps.now(), false);
}
