import { OracleError } from '../../../platform/errors.ts';
import type { DatedValue, DayRange, VenueSource } from '../sources/source.ts';
import { getLastClosedDay } from './agree-on-closes.ts';
import type { CollectDeps } from './deps.ts';

const MAX_SKEW_MS = 30_000;

/**
 * Fetches closes of a venue whose clock agrees with ours. If our clock ran ahead, a running candle would count as a close and resolve
 * outcomes.
 * @throws OracleError FEED_UNAVAILABLE when the range has the newest day and the clocks differ
 */
export async function fetchTrustedCloses(
  venue: VenueSource,
  range: DayRange,
  { providers, now }: Pick<CollectDeps, 'providers' | 'now'>,
): Promise<DatedValue[]> {
  const provider = providers[venue.provider];
  const closes = await venue.fetchCloses(provider, range);
  const { clockSkewMs } = provider.health();
  if (range.to < getLastClosedDay(now()) || Math.abs(clockSkewMs ?? 0) <= MAX_SKEW_MS) return closes;
  const seconds = Math.round((clockSkewMs ?? 0) / 1_000);
  throw new OracleError('FEED_UNAVAILABLE', `${provider.title}: its clock differs from ours by ${seconds} s, so that no close is certain`);
}
