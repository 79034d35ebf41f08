import { OracleError } from '../../platform/errors.ts';
import type { Feed, FeedKind, SpotPrice } from '../feed.ts';

/** How old a price may be. The other kinds have exactly one price for an instant, which cannot be late. */
export const MAX_SPOT_AGE_MS = {
  live: 15 * 60_000,
  csv: Number.POSITIVE_INFINITY,
  simulated: Number.POSITIVE_INFINITY,
} as const satisfies Record<FeedKind, number>;

/**
 * The feed's price at an instant.
 * @throws OracleError PRICE_UNAVAILABLE when there is none or it is older than `maxAgeMs`.
 */
export async function requireFreshSpot(feed: Feed, atMs: number, maxAgeMs: number): Promise<SpotPrice> {
  const spot = await feed.spot(atMs);
  const ageMs = atMs - spot.observedAtMs;
  if (ageMs <= maxAgeMs) return spot;
  const age = `${Math.round(ageMs / 60_000)} minutes old, the limit is ${Math.round(maxAgeMs / 60_000)}`;
  throw new OracleError('PRICE_UNAVAILABLE', `The last price from ${spot.source} is ${age}`);
}
