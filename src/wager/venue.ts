import type { Side } from './sizing.ts';

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

export interface WagerSettlement {
  winner: Side;
  /** Payout of the order in micros; 0 for the losing side. */
  payoutMicros: number;
  at: Date;
}

export interface VenueAccount {
  asset: string;
  cashMicros: number;
  openMicros: number;
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
  findWinner(market: StrikeMarket, at: Date): Promise<Side | null>;
  /** Pays out an order once its market has a winner; null before. */
  settleOrder(orderId: string, at: Date): Promise<WagerSettlement | null>;
  getAccount(): Promise<VenueAccount>;
}
