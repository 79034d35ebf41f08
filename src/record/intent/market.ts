import { type StrikeSnapshot, selectNearTheMoney, selectWeeklyStrikes } from '../../market/strikes.ts';
import type { ExchangeListing } from '../../wager/venue.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import { isOwnVenue } from '../own-venue.ts';

/** `wager` is the market that the service sized its own wager of the day on, `listed` the weekly strike nearest to the money now. */
export type IntentMarket = NonNullable<ReturnType<typeof toWagerMarket>> | ReturnType<typeof toListedMarket>;

export function toWagerMarket({ venue, market, listing, quote }: WagerDoc) {
  if (market === null || quote === null) return null;
  const { id: marketId, question, strikeUsd: strike, expiresAt } = market;
  return {
    basis: 'wager' as const,
    venue,
    marketId,
    question,
    strike,
    ...toIdentifiers(listing),
    expiresAt: expiresAt.toISOString(),
    bid: quote.bid,
    ask: quote.ask,
    quotedAt: quote.at.toISOString(),
    madeByService: isOwnVenue(venue),
  };
}

export type TradableStrike = NonNullable<ReturnType<typeof findTradableStrike>>;

/** The strike nearest to a price in the next weekly ladder, among those with a two-sided quote; null without one. */
export function findTradableStrike(snapshots: readonly StrikeSnapshot[], priceUsd: number, now: Date) {
  const weekly = selectWeeklyStrikes(snapshots, now.getTime());
  const priced = weekly.filter(({ bid, ask, conditionId }) => bid !== null && ask !== null && ask > bid && conditionId !== null);
  const [snapshot] = selectNearTheMoney(priced, priceUsd, 1);
  if (snapshot === undefined) return null;
  return { snapshot, listing: toExchangeListing(snapshot) as ExchangeListing, bid: snapshot.bid as number, ask: snapshot.ask as number };
}

export function toListedMarket({ snapshot, listing, bid, ask }: TradableStrike) {
  const { venue, marketId, question, strikeUsd: strike, expiresAtMs, receivedAtMs } = snapshot;
  return {
    basis: 'listed' as const,
    venue,
    marketId,
    question,
    strike,
    ...toIdentifiers(listing),
    expiresAt: new Date(expiresAtMs).toISOString(),
    bid,
    ask,
    quotedAt: new Date(receivedAtMs).toISOString(),
    madeByService: false,
  };
}

function toIdentifiers(listing: ExchangeListing | undefined) {
  const { conditionId = null, yesTokenId = null, noTokenId = null, url = null, tickSize = null, minOrderSize = null } = listing ?? {};
  return { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize };
}

/** Polymarket's identifiers of a strike; null for other venues. */
export function toExchangeListing(snapshot: StrikeSnapshot): ExchangeListing | null {
  const { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize } = snapshot;
  return conditionId === null ? null : { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize };
}
