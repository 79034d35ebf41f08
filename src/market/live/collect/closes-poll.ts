import { OracleError } from '../../../errors.ts';
import { formatDay, instantOf } from '../../../forecast/day.ts';
import type { DayRange, VenueSource } from '../source.ts';
import { type AgreeParts, agreeOnCloses, lastDayClosed } from './agree.ts';
import { pagesOf, withinReach } from './pages.ts';
import type { Poll } from './poll.ts';
import { type CollectParts, keep } from './series-poll.ts';
import { trustedCloses } from './trusted-closes.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A candle is asked for once the venues have had time to close it. */
const CANDLE_GRACE_MS = MINUTE_MS;
/** A venue that was away is asked for what it missed of so many days; of more while the agreed closes need them. */
const REACH_DAYS = 30;

/** Asks every venue for its closes, and has them agree. */
export function closesPoll(venues: readonly VenueSource[], parts: CollectParts & AgreeParts): Poll {
  return {
    id: 'closes',
    everyMs: HOUR_MS,
    retryMs: MINUTE_MS,
    async run(nowMs) {
      const to = lastDayClosed(nowMs);
      const last = (await parts.stores.memory.stream('btcClose')).lastFinalDay();
      const from = Math.min(to - REACH_DAYS, (last ?? to) + 1);
      const answers = await Promise.allSettled(venues.map((venue) => collectVenue(venue, { from, to }, parts)));
      const waiting = last === null ? null : await agreeOnCloses(parts, { from: last + 1, to }, parts.now(), false);
      for (const answer of answers) if (answer.status === 'rejected' && !(answer.reason instanceof OracleError)) throw answer.reason;
      if (waiting !== null) throw new OracleError('FEED_UNAVAILABLE', `too few venues agree on the close of ${formatDay(waiting)}`);
      return instantOf(to + 2) + CANDLE_GRACE_MS;
    },
  };
}

async function collectVenue(venue: VenueSource, { from, to }: DayRange, parts: CollectParts): Promise<void> {
  const last = (await parts.stores.memory.stream('venueClose')).lastFinalDay(venue.provider);
  if (last === to) return;
  const range = withinReach(venue, { from: Math.max((last ?? 0) + 1, from), to }, to + 1);
  for (const page of range === null ? [] : pagesOf(range, venue.pageDays)) {
    await keep(parts, 'venueClose', venue.provider, await trustedCloses(venue, page, parts));
  }
}
