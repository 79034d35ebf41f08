import { OracleError } from '../../platform/errors.ts';
import type { Feed, FeedKind, SpotPrice } from '../feed.ts';

/** Staleness limit of a spot price. CSV and simulated feeds have exactly one price per instant, which cannot be late. */
export const MAX_SPOT_AGE_MS = {
  live: 15 * 60_000,
  csv: Number.POSITIVE_INFINITY,
  simulated: Number.POSITIVE_INFINITY,
} as const satisfies Record<FeedKind, number>;

/** @throws OracleError PRICE_UNAVAILABLE when the price is missing or older than `maxAgeMs` */
export async function requireFreshSpot(feed: Feed, atMs: number, maxAgeMs: number): Promise<SpotPrice> {
  const spot = await feed.spot(atMs);
  const ageMs = atMs - spot.observedAtMs;
  if (ageMs <= maxAgeMs) return spot;
  const age = `${Math.round(ageMs / 60_000)} minutes old, the limit is ${Math.round(maxAgeMs / 60_000)}`;
  throw new OracleError('PRICE_UNAVAILABLE', `The last price from ${spot.source} is ${age}`);
}
