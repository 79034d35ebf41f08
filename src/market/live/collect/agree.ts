import { isOracleError } from '../../../errors.ts';
import { type Day, dayOf, instantOf } from '../../../forecast/day.ts';
import { type QuorumPrice, type QuorumRule, quorumPrice } from '../../quorum.ts';
import type { ProviderId } from '../providers.ts';
import type { DatedValue } from '../source.ts';
import type { LiveStores } from '../stores.ts';

export interface AgreeParts {
  stores: LiveStores;
  venues: readonly ProviderId[];
  quorum: QuorumRule;
}

/** The name that agreed closes are kept under in the stream `btcClose`. */
export const AGREED = 'venues';

/** Without a quorum the model's own series goes on with the venues there are from this hour of the next day on: in time for 21:35. */
const LENIENT_AFTER_HOURS = 44;

/**
 * Brings the model's daily closes up to yesterday, from the closes of the venues, day after day: the agreed price where venues agree,
 * hours later the median of whatever there is. Outcomes are never settled with the latter.
 * @returns the first day that has to wait; null when none has
 */
export async function agreeOnCloses(
  parts: AgreeParts,
  range: { from: Day; to: Day },
  nowMs: number,
  backfilled: boolean,
): Promise<Day | null> {
  const { observations, memory } = parts.stores;
  const venues = await memory.stream('venueClose');
  const agreed: DatedValue[] = [];
  let waiting: Day | null = null;
  for (let day = range.from; day <= range.to && waiting === null; day++) {
    const price = await priceOf(parts, day, venues.bySource(day, nowMs), nowMs);
    if (price === null) waiting = day;
    else agreed.push({ day, value: price, providerAtMs: instantOf(day + 1) });
  }
  const changed = await observations.save('btcClose', AGREED, agreed, { receivedAtMs: nowMs, backfilled });
  if (changed > 0) await memory.forget('btcClose');
  return waiting;
}

async function priceOf(parts: AgreeParts, day: Day, known: Map<string, number>, nowMs: number): Promise<number | null> {
  const closes = parts.venues.map((venue) => ({ venue, priceUsd: known.get(venue) ?? null }));
  const strict = tryQuorum(closes, parts.quorum);
  if (strict !== null) return (await parts.stores.closes.pin({ day, ...strict })).priceUsd;
  if (nowMs < instantOf(day, LENIENT_AFTER_HOURS)) return null;
  return tryQuorum(closes, { minVenues: 1, maxDeviationBps: Number.POSITIVE_INFINITY })?.priceUsd ?? null;
}

function tryQuorum(closes: { venue: string; priceUsd: number | null }[], rule: QuorumRule): QuorumPrice | null {
  try {
    return quorumPrice(closes, rule);
  } catch (error) {
    if (isOracleError(error, 'PRICE_UNAVAILABLE')) return null;
    throw error;
  }
}

/** The last day that is over. */
export function lastDayClosed(nowMs: number): Day {
  return dayOf(nowMs) - 1;
}
