import type { OrderSizes, Side } from './sizing.ts';

/** Money is in whole micro-units (1e-6) of the venue's asset. */
export const MICROS = 1_000_000;

/** Identifiers and order limits of a market on an external exchange. */
export interface ExchangeListing {
  conditionId: string;
  /** ERC-1155 ids of the outcome tokens, decimal. */
  yesTokenId: string | null;
  noTokenId: string | null;
  url: string;
  /** Price step, and minimum order in contracts; null where the exchange does not publish them. */
  tickSize: number | null;
  minOrderSize: number | null;
}

/** "Will BTC/USD close above the strike?" A YES contract pays one unit of the asset if so, a NO contract if not. */
export interface StrikeMarket {
  id: string;
  question: string;
  strikeUsd: number;
  expiresAt: Date;
  /** Unset for the paper venue. */
  listing?: ExchangeListing;
}

export interface PriceLevel {
  /** 0 to 1. */
  price: number;
  /** Contracts. */
  size: number;
}

/** Orders on YES contracts, best prices first. */
export interface BookDepth {
  bids: PriceLevel[];
  asks: PriceLevel[];
}

/** Prices of a YES contract at one time, 0 to 1. */
export interface Quote {
  bid: number;
  ask: number;
  /** Fee of one contract of either side, as a fraction of the unit. */
  fee: number;
  at: Date;
  /** Top levels of the order book; unset for a venue without one. */
  book?: BookDepth;
  /** Orders that the venue takes at these prices; unset: any number of contracts. */
  orderSizes?: Record<Side, OrderSizes>;
}

export interface VenueOrder {
  /** Idempotency key: the same id never buys twice. */
  clientOrderId: string;
  market: StrikeMarket;
  side: Side;
  /** Maximum cost of a contract, fee included, in micros. */
  limitCostMicros: number;
  contracts: number;
  at: Date;
}

export interface Fill {
  orderId: string;
  contracts: number;
  costMicros: number;
  at: Date;
}

/** VOID: the market ended without a winner, as by a resolution at 50/50 or a cancellation, and pays both sides a share. */
export type MarketOutcome = Side | 'VOID';

export interface WagerSettlement {
  /** Null for a market that ended without one. */
  winner: Side | null;
  /** Payout of the order in micros; 0 for the losing side. */
  payoutMicros: number;
  at: Date;
}

/** A prediction market for strikes. All calls are idempotent: `placeOrder` and `settleOrder` take effect once. */
export interface Venue {
  readonly name: string;
  readonly asset: string;
  /** Venues that quote the same book, this one included; only their quotes are comparable. */
  readonly sameBook: readonly string[];
  listMarkets(at: Date): Promise<StrikeMarket[]>;
  getQuote(market: StrikeMarket, at: Date): Promise<Quote>;
  /** @throws OracleError VENUE_REJECTED when the order cannot be filled at its limit. */
  placeOrder(order: VenueOrder): Promise<Fill>;
  /** Null when the venue has no such order. */
  findFill(clientOrderId: string): Promise<Fill | null>;
  /** Null while the market is open. */
  findWinner(market: StrikeMarket, at: Date): Promise<MarketOutcome | null>;
  /** Pays out an order once its market has ended; null before. */
  settleOrder(orderId: string, at: Date): Promise<WagerSettlement | null>;
  getAccount(): Promise<{ asset: string; cashMicros: number; openMicros: number }>;
}

/** `2 * eachSide + 1` round strikes around a price in USD, ascending, about `distance` (a share of the price) apart. */
export function buildStrikesAround(spotUsd: number, distance: number, eachSide: number): number[] {
  const step = chooseRoundStep(distance * spotUsd);
  const nearest = Math.round(spotUsd / step);
  // toPrecision removes the rounding error of the product.
  return Array.from({ length: 2 * eachSide + 1 }, (_, index) => Number(((nearest + index - eachSide) * step).toPrecision(6)));
}

/** 1, 2 or 5 times a power of ten, near the wanted distance. */
function chooseRoundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const digits = wanted / power;
  if (digits < 1.5) return power;
  return (digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10) * power;
}
