import { type Day, toDay, toInstantMs } from '../../../../forecast/day.ts';
import { findQuorumPrice, type QuorumRule } from '../../../prices/quorum.ts';
import type { ProviderId } from '../../providers/providers.ts';
import type { DatedValue, DayRange } from '../../sources/source.ts';
import type { LiveStores } from '../../store/live-stores.ts';

export interface AgreementDeps {
  stores: LiveStores;
  venues: readonly ProviderId[];
  quorum: QuorumRule;
}

/** Hours from 00:00 UTC of the day until the model's series accepts closes without a quorum, in time for the next signal at 21:35. */
const LENIENT_AFTER_HOURS = 44;

/** Whether the model's series still waits for a quorum on a day. */
export function isAwaitingQuorum(day: Day, nowMs: number): boolean {
  return nowMs < toInstantMs(day, LENIENT_AFTER_HOURS);
}

/**
 * Extends the model's daily closes day by day: the quorum price, or hours later the median of the available venues. Outcomes are never
 * resolved with the latter.
 * @returns the first day without a price; null when all have one
 */
export async function agreeOnCloses(deps: AgreementDeps, range: DayRange, nowMs: number, backfilled: boolean): Promise<Day | null> {
  const { observations, observationCache } = deps.stores;
  const venues = await observationCache.getHistory('venueClose');
  const agreed: DatedValue[] = [];
  let waiting: Day | null = null;
  for (let day = range.from; day <= range.to && waiting === null; day++) {
    const price = await agreeOnPrice(deps, day, venues.getFinalValues(day, nowMs), nowMs);
    if (price === null) waiting = day;
    else agreed.push({ day, value: price, providerAtMs: toInstantMs(day + 1) });
  }
  const changed = await observations.save('btcClose', 'venues', agreed, { receivedAtMs: nowMs, backfilled });
  if (changed > 0) await observationCache.invalidate('btcClose');
  return waiting;
}

async function agreeOnPrice(deps: AgreementDeps, day: Day, known: Map<string, number>, nowMs: number): Promise<number | null> {
  const closes = deps.venues.map((venue) => ({ venue, priceUsd: known.get(venue) ?? null }));
  const strict = findQuorumPrice(closes, deps.quorum);
  if (strict !== null) return (await deps.stores.closes.pin({ day, ...strict })).priceUsd;
  if (isAwaitingQuorum(day, nowMs)) return null;
  return findQuorumPrice(closes, { minVenues: 1, maxDeviationBps: Number.POSITIVE_INFINITY })?.priceUsd ?? null;
}

export function getLastClosedDay(nowMs: number): Day {
  return toDay(nowMs) - 1;
}
