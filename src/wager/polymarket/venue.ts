import type { Db } from 'mongodb';
import type { Log } from '../../platform/log.ts';
import type { Side } from '../sizing.ts';
import {
  type ExchangeListing,
  type Fill,
  MICROS,
  type Quote,
  type StrikeMarket,
  type Venue,
  type VenueAccount,
  type VenueOrder,
  type WagerSettlement,
} from '../venue.ts';
import { MarketDataClient } from './api/market-data-client.ts';
import { type TradingAccount, TradingClient } from './api/trading-client.ts';
import { DRY_RUN_VENUE, DryRunExecutor } from './execution/dry-run-executor.ts';
import { EXCHANGE_VENUE, ExchangeExecutor } from './execution/exchange-executor.ts';
import type { OrderExecutor } from './execution/order-executor.ts';
import { type PolymarketOrderDoc, PolymarketOrderStore, toFill } from './execution/order-store.ts';
import { planOrder, venueRejectedError } from './order-plan.ts';
import { buildQuote } from './quote.ts';

/** A strike as it is listed; what it trades in is the exchange's to tell. */
export interface PolymarketStrike {
  conditionId: string;
  question: string;
  strikeUsd: number;
  expiresAt: Date;
  listing?: ExchangeListing;
}

export interface PolymarketVenueOptions {
  db: Db;
  host: string;
  /** Who trades; null: a dry run, which sends no order and needs no key. */
  account: TradingAccount | null;
  /** What a dry run starts with, in micros. */
  dryRunBalanceMicros: number;
  /** Largest stake of one wager, and largest sum of open stakes, in whole dollars. */
  maxStakeUsd: number;
  maxOpenUsd: number;
  /** No order is sent any more; those that were are still found and settled. */
  killSwitch: boolean;
  /** Whether the operator has paused new orders; asked anew before each is carried out. Unset: never. */
  isPaused?(): Promise<boolean>;
  /** The strikes that wagers may be placed on. */
  strikes(at: Date): Promise<PolymarketStrike[]>;
  now(): Date;
  log: Log;
  /** For one request to the exchange; 45 s unless told, above the 30 s that the client may take to post an order. */
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 45_000;

/**
 * Polymarket, for money or as a dry run. A contract is one token of a market: YES and NO are bought, each from its own book, never sold.
 * Settlement books what a winning order is worth; collecting it on chain is the wallet owner's.
 */
export class PolymarketVenue implements Venue {
  readonly sameBook = [EXCHANGE_VENUE, DRY_RUN_VENUE];
  readonly #options: PolymarketVenueOptions;
  readonly #marketData: MarketDataClient;
  readonly #orders: PolymarketOrderStore;
  readonly #executor: OrderExecutor;

  constructor(options: PolymarketVenueOptions) {
    const { db, host, account, dryRunBalanceMicros: openingBalanceMicros, now, log, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    this.#options = options;
    this.#marketData = new MarketDataClient({ host, timeoutMs });
    const orders = new PolymarketOrderStore(db, account === null ? DRY_RUN_VENUE : EXCHANGE_VENUE);
    this.#orders = orders;
    this.#executor =
      account === null
        ? new DryRunExecutor({ orders, openingBalanceMicros, now })
        : new ExchangeExecutor({ orders, trading: new TradingClient({ host, timeoutMs, account }), now, log });
  }

  get name(): string {
    return this.#executor.name;
  }

  get asset(): string {
    return this.#executor.asset;
  }

  async listMarkets(at: Date): Promise<StrikeMarket[]> {
    const strikes = await this.#options.strikes(at);
    return strikes.filter(({ expiresAt }) => expiresAt > at).map(({ conditionId: id, ...strike }) => ({ id, ...strike }));
  }

  /** @throws OracleError VENUE_REJECTED when the book of YES has no two sides, or they are too far apart to say a price. */
  async getQuote(market: StrikeMarket, at: Date): Promise<Quote> {
    const { tokens, fee } = await this.#marketData.fetchTradingTerms(market.id);
    return buildQuote(await this.#marketData.fetchOrderBook(tokens.YES), fee, at);
  }

  /**
   * @throws OracleError VENUE_REJECTED when the order buys nothing, FEED_UNAVAILABLE while it is not known whether it does: placed again,
   * it is the same order.
   */
  async placeOrder(order: VenueOrder): Promise<Fill> {
    const known = await this.#orders.find(order.clientOrderId);
    if (await this.#isStopped()) {
      if (known === null) throw venueRejectedError('the kill switch is on, or new wagers are paused');
      return toFill(await this.#executor.resolveOrder(known));
    }
    const written = known ?? (await this.#orders.insert(await this.#prepareOrder(order)));
    // The book, the account and the signature took seconds: what was let in may have been stopped since.
    if (await this.#isStopped()) return toFill(await this.#executor.resolveOrder(written));
    return toFill(await this.#executor.execute(written));
  }

  async #isStopped(): Promise<boolean> {
    const { killSwitch, isPaused } = this.#options;
    return killSwitch || ((await isPaused?.()) ?? false);
  }

  async findFill(clientOrderId: string): Promise<Fill | null> {
    const order = await this.#orders.find(clientOrderId);
    return order === null ? null : toFill(await this.#executor.resolveOrder(order));
  }

  async findWinner({ id, expiresAt }: StrikeMarket, at: Date): Promise<Side | null> {
    return at < expiresAt ? null : this.#marketData.fetchWinner(id);
  }

  async settleOrder(orderId: string, at: Date): Promise<WagerSettlement | null> {
    const order = await this.#orders.get(orderId);
    if (order.settlement !== null) return order.settlement;
    const winner = await this.findWinner(order.market, at);
    if (winner === null) return null;
    const payoutMicros = winner === order.side ? Math.round(order.filledContracts * MICROS) : 0;
    return this.#orders.settle(orderId, { winner, payoutMicros, at });
  }

  async getAccount(): Promise<VenueAccount> {
    const [cashMicros, openMicros] = await Promise.all([this.#executor.getCashMicros(), this.#orders.sumOpenMicros()]);
    return { asset: this.asset, cashMicros, openMicros };
  }

  async #prepareOrder(order: VenueOrder): Promise<PolymarketOrderDoc> {
    const terms = await this.#marketData.fetchTradingTerms(order.market.id);
    const [book, { cashMicros, openMicros }] = await Promise.all([
      this.#marketData.fetchOrderBook(terms.tokens[order.side]),
      this.getAccount(),
    ]);
    const { maxStakeUsd, maxOpenUsd } = this.#options;
    const limits = { maxStakeMicros: maxStakeUsd * MICROS, maxOpenMicros: maxOpenUsd * MICROS, openMicros, cashMicros };
    return this.#executor.prepareOrder(order, planOrder(order, terms, book, limits), book);
  }
}
