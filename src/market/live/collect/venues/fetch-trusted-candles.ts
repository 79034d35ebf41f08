import { OracleError } from '../../../../platform/errors.ts';
import type { DailyCandle, DayRange, VenueSource } from '../../sources/source.ts';
import type { CollectDeps } from '../deps.ts';
import { getLastClosedDay } from './agree-on-closes.ts';

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
