import type { Side } from './sizing.ts';

/** Amounts of money are whole micro-units (1e-6) of the venue's asset. */
export const MICROS = 1_000_000;

/** What a market is known by where it trades, and what orders it takes; of somebody else's exchange only. */
export interface ExchangeListing {
  conditionId: string;
  /** ERC-1155 ids of the outcome tokens, decimal. */
  yesTokenId: string | null;
  noTokenId: string | null;
  url: string;
  /** Step of prices, and smallest order in contracts; null where the exchange does not tell. */
  tickSize: number | null;
  minOrderSize: number | null;
}

/** "Will BTC/USD close above the strike?" A YES contract pays one unit of the asset when it does, a NO contract when it does not. */
export interface StrikeMarket {
  id: string;
  question: string;
  strikeUsd: number;
  expiresAt: Date;
  /** As the exchange lists it; unset where nobody else does. */
  listing?: ExchangeListing;
}

export interface PriceLevel {
  /** Of a contract, 0 to 1. */
  price: number;
  /** Contracts. */
  size: number;
}

/** Orders on YES contracts, best prices first. */
export interface BookDepth {
  bids: PriceLevel[];
  asks: PriceLevel[];
}

/** Prices of a YES contract, 0 to 1, as they stood at one moment. */
export interface Quote {
  bid: number;
  ask: number;
  /** Fee of one contract of either side, as a fraction of the unit. */
  fee: number;
  at: Date;
  /** What stood behind the prices, a few levels of it; unset where the venue has no order book. */
  book?: BookDepth;
}

export interface VenueOrder {
  /** The same id never buys twice. */
  clientOrderId: string;
  market: StrikeMarket;
  side: Side;
  /** Highest cost of a contract, fee included, in micros. */
  limitCostMicros: number;
  contracts: number;
  at: Date;
}

export interface Fill {
  orderId: string;
  contracts: number;
  /** What all contracts cost, fee included, in micros. */
  costMicros: number;
  at: Date;
}

export interface WagerSettlement {
  winner: Side;
  /** What the order paid out, in micros; 0 for the losing side. */
  payoutMicros: number;
  at: Date;
}

export interface VenueAccount {
  asset: string;
  /** What is free to stake, in micros. */
  cashMicros: number;
  /** Cost of all open contracts, in micros. */
  openMicros: number;
}

/** A place that takes wagers on strikes. Every call may be repeated: `place` and `settle` have their effect once. */
export interface Venue {
  readonly name: string;
  readonly asset: string;
  /** Names of the venues that quote the same book, this one included: only their quotes compare with each other. */
  readonly sameBook: readonly string[];
  /** Markets open for new wagers. */
  listMarkets(at: Date): Promise<StrikeMarket[]>;
  getQuote(market: StrikeMarket, at: Date): Promise<Quote>;
  /** @throws OracleError VENUE_REJECTED when the order cannot be filled at its limit. */
  placeOrder(order: VenueOrder): Promise<Fill>;
  /** What an order bought, or null when the venue has no order of that id. */
  findFill(clientOrderId: string): Promise<Fill | null>;
  /** Which side won a market, or null while it is open. */
  findWinner(market: StrikeMarket, at: Date): Promise<Side | null>;
  /** Pays an order out once its market has a winner; null before. */
  settleOrder(orderId: string, at: Date): Promise<WagerSettlement | null>;
  getAccount(): Promise<VenueAccount>;
}
