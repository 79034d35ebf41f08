import { type StrikeSnapshot, selectNearTheMoney, selectWeeklyStrikes } from '../../market/strikes.ts';
import type { ExchangeListing } from '../../wager/venue.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import { toExchangeListing } from './exchange-listing.ts';

/** The prediction market that an intent is for. */
export interface IntentMarket {
  /** `wager`: the one that the service sized its own wager of the day on; `listed`: the weekly strike nearest to the money right now. */
  basis: 'wager' | 'listed';
  venue: string;
  marketId: string;
  conditionId: string | null;
  yesTokenId: string | null;
  noTokenId: string | null;
  question: string;
  strike: number;
  expiresAt: string;
  url: string | null;
  bid: number;
  ask: number;
  /** When these prices stood. */
  quotedAt: string;
  tickSize: number | null;
  minOrderSize: number | null;
  /** True where the service itself makes the quotes: they stand for no real market. */
  madeByService: boolean;
}

/** The market of a stored wager as it was when the wager was decided; null when none was looked at. */
export function toWagerMarket({ venue, market, listing, quote }: WagerDoc): IntentMarket | null {
  if (market === null || quote === null) return null;
  const { id: marketId, question, strikeUsd: strike, expiresAt } = market;
  return {
    ...{ basis: 'wager', venue, marketId, question, strike },
    ...toIdentifiers(listing),
    expiresAt: expiresAt.toISOString(),
    ...{ bid: quote.bid, ask: quote.ask, quotedAt: quote.at.toISOString() },
    madeByService: isOwnVenue(venue),
  };
}

/** True for the venue that quotes and settles by itself. */
export function isOwnVenue(venue: string): boolean {
  return venue === 'paper';
}

/** A strike that can be bought right now. */
export interface TradableStrike {
  snapshot: StrikeSnapshot;
  listing: ExchangeListing;
  bid: number;
  ask: number;
}

/** Of the next weekly ladder with prices on both sides, the strike nearest to a price; null where none is listed. */
export function findTradableStrike(snapshots: readonly StrikeSnapshot[], priceUsd: number, now: Date): TradableStrike | null {
  const weekly = selectWeeklyStrikes(snapshots, now.getTime());
  const priced = weekly.filter(({ bid, ask, conditionId }) => bid !== null && ask !== null && ask > bid && conditionId !== null);
  const [snapshot] = selectNearTheMoney(priced, priceUsd, 1);
  if (snapshot === undefined) return null;
  return { snapshot, listing: toExchangeListing(snapshot) as ExchangeListing, bid: snapshot.bid as number, ask: snapshot.ask as number };
}

export function toListedMarket({ snapshot, listing, bid, ask }: TradableStrike): IntentMarket {
  const { venue, marketId, question, strikeUsd: strike, expiresAtMs, receivedAtMs } = snapshot;
  return {
    ...{ basis: 'listed', venue, marketId, question, strike },
    ...toIdentifiers(listing),
    expiresAt: new Date(expiresAtMs).toISOString(),
    ...{ bid, ask, quotedAt: new Date(receivedAtMs).toISOString() },
    madeByService: false,
  };
}

function toIdentifiers(listing: ExchangeListing | undefined) {
  const { conditionId = null, yesTokenId = null, noTokenId = null, url = null, tickSize = null, minOrderSize = null } = listing ?? {};
  return { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize };
}
