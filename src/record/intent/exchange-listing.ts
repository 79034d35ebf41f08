import type { StrikeSnapshot } from '../../market/strikes.ts';
import type { ExchangeListing } from '../../wager/venue.ts';

/** How Polymarket lists a strike; null for a strike of another venue. */
export function toExchangeListing(snapshot: StrikeSnapshot): ExchangeListing | null {
  const { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize } = snapshot;
  return conditionId === null ? null : { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize };
}
