import { type Day, toInstantMs } from '../../../../forecast/day.ts';
import type { PriceRange } from '../../../feed.ts';
import { findLenientRange, findQuorumRange, type VenueRange } from '../../../prices/range-quorum.ts';
import type { DatedValue, DayRange } from '../../sources/source.ts';
import type { LiveStores } from '../../store/live-stores.ts';
import type { StreamHistory } from '../../store/observations/stream-history.ts';
import { type AgreementDeps, isAwaitingQuorum } from './agree-on-closes.ts';

/**
 * Stores the model's daily high and low of each day that venues agree on. A day without them stays without for good, unlike a close: the
 * model takes its squared return instead.
 * @returns the days without an agreed range that no longer wait for a quorum
 */
export async function agreeOnRanges(deps: AgreementDeps, range: DayRange, nowMs: number, backfilled: boolean): Promise<Day[]> {
  const { observations, observationCache } = deps.stores;
  const [highs, lows] = [await observationCache.getHistory('venueHigh'), await observationCache.getHistory('venueLow')];
  const agreed: (PriceRange & { day: Day })[] = [];
  const missing: Day[] = [];
  for (let day = range.from; day <= range.to; day++) {
    const isWaiting = isAwaitingQuorum(day, nowMs);
    const known = readVenueRanges(deps, { highs, lows, day, nowMs });
    const found = isWaiting ? findQuorumRange(known, deps.quorum) : findLenientRange(known, deps.quorum);
    if (found !== null) agreed.push({ day, ...found });
    else if (!isWaiting) missing.push(day);
  }
  for (const [stream, side] of [['btcHigh', 'highUsd'] as const, ['btcLow', 'lowUsd'] as const]) {
    const values = agreed.map(({ day, [side]: value }): DatedValue => ({ day, value, providerAtMs: toInstantMs(day + 1) }));
    const changed = await observations.save(stream, 'venues', values, { receivedAtMs: nowMs, backfilled });
    if (changed > 0) await observationCache.invalidate(stream);
  }
  return missing;
}

/** The backfill of the agreed ranges. Until it is complete, a range agreed by a poll would count as known since its reception. */
export const AGREED_RANGES_ID = 'btcRange/venues';

/** The last day that has both an agreed high and low; null without one. */
export async function findLastRangeDay({ observationCache }: LiveStores): Promise<Day | null> {
  const high = (await observationCache.getHistory('btcHigh')).getLastFinalDay();
  const low = (await observationCache.getHistory('btcLow')).getLastFinalDay();
  return high === null || low === null ? null : Math.min(high, low);
}

interface StoredRanges {
  highs: StreamHistory;
  lows: StreamHistory;
  day: Day;
  nowMs: number;
}

function readVenueRanges({ venues }: AgreementDeps, { highs, lows, day, nowMs }: StoredRanges): VenueRange[] {
  const [high, low] = [highs.getFinalValues(day, nowMs), lows.getFinalValues(day, nowMs)];
  return venues.flatMap((venue) => {
    const [highUsd, lowUsd] = [high.get(venue), low.get(venue)];
    return highUsd === undefined || lowUsd === undefined ? [] : [{ venue, highUsd, lowUsd }];
  });
}
