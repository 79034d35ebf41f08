import { type Day, formatDay, toDay } from '../../../../forecast/day.ts';
import { getErrorMessage, OracleError } from '../../../../platform/errors.ts';
import { findLenientRange, type VenueRange } from '../../../prices/range-quorum.ts';
import type { VenueSource } from '../../sources/source.ts';
import type { CollectDeps } from '../deps.ts';
import type { Poll } from '../poll.ts';
import type { AgreementDeps } from './agree-on-closes.ts';
import { fetchTrustedCandles } from './fetch-trusted-candles.ts';

const MINUTE_MS = 60_000;
const EVERY_MS = 5 * MINUTE_MS;
/** Runs at 21:34, a minute before the signal, and four minutes into a new day. */
const OFFSET_MS = 4 * MINUTE_MS;

/** Stores the range of the running UTC day that the venues agree on, from one request of a candle each. */
export function createRangePoll(venues: readonly VenueSource[], deps: CollectDeps & AgreementDeps): Poll {
  return {
    id: 'rangeSoFar',
    everyMs: EVERY_MS,
    retryMs: MINUTE_MS,
    leaseMs: 2 * MINUTE_MS,
    async run(nowMs) {
      const day = toDay(nowMs);
      const answers = await Promise.allSettled(venues.map((venue) => fetchRange(venue, day, deps)));
      const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
      const unexpected = failed.find((reason) => !(reason instanceof OracleError));
      if (unexpected !== undefined) throw unexpected;
      const ranges = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []));
      const agreed = findLenientRange(ranges, deps.quorum);
      if (agreed === null) throw disagreement(day, ranges, failed);
      await deps.stores.ranges.save({ day, ...agreed, receivedAtMs: deps.now(), venues: ranges });
      return Math.floor((nowMs - OFFSET_MS) / EVERY_MS + 1) * EVERY_MS + OFFSET_MS;
    },
  };
}

async function fetchRange(venue: VenueSource, day: Day, deps: CollectDeps): Promise<VenueRange | null> {
  const candles = await fetchTrustedCandles(venue, { from: day, to: day }, deps);
  const range = candles.find((candle) => candle.day === day)?.range ?? null;
  return range === null ? null : { venue: venue.provider, ...range };
}

function disagreement(day: Day, ranges: VenueRange[], failed: unknown[]): OracleError {
  const known = ranges.map(({ venue, highUsd, lowUsd }) => `${venue} ${lowUsd} to ${highUsd}`);
  const reasons = [...known, ...failed.map(getErrorMessage)].join('; ') || 'no venue has one';
  return new OracleError('FEED_UNAVAILABLE', `no two venues agree on the range of ${formatDay(day)} so far: ${reasons}`);
}
