import type { StrikeSnapshot } from '../../market/strikes.ts';
import type { ExchangeListing } from '../../wager/venue.ts';

/** Polymarket's identifiers of a strike; null for other venues. */
export function toExchangeListing(snapshot: StrikeSnapshot): ExchangeListing | null {
  const { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize } = snapshot;
  return conditionId === null ? null : { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize };
}
