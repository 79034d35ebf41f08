import { OracleError } from '../../../platform/errors.ts';
import type { DatedValue, DayRange, VenueSource } from '../sources/source.ts';
import { getLastClosedDay } from './agree-on-closes.ts';
import type { CollectDeps } from './series-poll.ts';

/** Clocks farther apart than this do not agree on which candle is finished. */
const MAX_SKEW_MS = 30_000;

/**
 * A venue's closes of a range. Only our clock says which day is over: where it runs ahead, a running candle would be taken for a close,
 * and be settled with.
 * @throws OracleError FEED_UNAVAILABLE when the newest day is asked for and the venue's clock is another than ours
 */
export async function fetchTrustedCloses(venue: VenueSource, range: DayRange, { providers, now }: CollectDeps): Promise<DatedValue[]> {
  const provider = providers[venue.provider];
  const closes = await venue.fetchCloses(provider, range);
  const { clockSkewMs } = provider.health();
  if (range.to < getLastClosedDay(now()) || Math.abs(clockSkewMs ?? 0) <= MAX_SKEW_MS) return closes;
  const seconds = Math.round((clockSkewMs ?? 0) / 1_000);
  throw new OracleError('FEED_UNAVAILABLE', `${provider.title}: its clock differs from ours by ${seconds} s, so that no close is certain`);
}
