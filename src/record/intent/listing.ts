import type { StrikeSnapshot } from '../../market/strikes.ts';
import type { Listing } from '../../wager/venue.ts';

/** How Polymarket lists a strike; null for a strike of another venue. */
export function listingOf(snapshot: StrikeSnapshot): Listing | null {
  const { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize } = snapshot;
  return conditionId === null ? null : { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize };
}
