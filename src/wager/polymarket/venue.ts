import type { Db } from 'mongodb';
import type { Log } from '../../platform/log.ts';
import type { Side } from '../sizing.ts';
import { type Fill, MICROS, type Quote, type StrikeMarket, type Venue, type VenueOrder, type WagerSettlement } from '../venue.ts';
import { MarketDataClient, type OrderBook } from './api/market-data-client.ts';
import { type TradingAccount, TradingClient } from './api/trading-client.ts';
import { createDryRunExecutor, DRY_RUN_VENUE } from './execution/dry-run-executor.ts';
import { EXCHANGE_VENUE, ExchangeExecutor } from './execution/exchange-executor.ts';
import type { OrderExecutor } from './execution/order-executor.ts';
import { type PolymarketOrderDoc, PolymarketOrderStore, toFill } from './execution/order-store.ts';
import { computeFeeMicros, type FeeSchedule } from './fee.ts';
import { planOrder, venueRejectedError } from './order-plan.ts';

/** With a wider spread the midpoint is no estimate of the crowd's probability. */
const MAX_SPREAD = 0.1;

const MAX_KEPT_LEVELS = 5;

/** A listed strike; its tokens come from the exchange. */
export interface PolymarketStrike extends Omit<StrikeMarket, 'id'> {
  conditionId: string;
}

export interface PolymarketVenueOptions {
  db: Db;
  host: string;
  /** Null for a dry run, which sends no order and needs no key. */
  account: TradingAccount | null;
  dryRunBalanceMicros: number;
  /** Maximum stake of one wager and maximum sum of open stakes, in whole dollars. */
  maxStakeUsd: number;
  maxOpenUsd: number;
  /** Sends no new orders; sent ones are still looked up and settled. */
  killSwitch: boolean;
  /** Whether the operator has paused new orders; read before each execution. Default: never. */
  isPaused?(): Promise<boolean>;
  strikes(at: Date): Promise<PolymarketStrike[]>;
  now(): Date;
  log: Log;
  /** Per request; default 45 s, above the 30 s that the client may take to post an order. */
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 45_000;

/**
 * Polymarket, with money or as a dry run. A contract is one outcome token; YES and NO are bought from their own books, never sold.
 * Settlement only records the payout: the wallet's owner redeems it on chain.
 */
export class PolymarketVenue implements Venue {
  readonly name: string;
  readonly asset: string;
  readonly sameBook = [EXCHANGE_VENUE, DRY_RUN_VENUE];
  readonly #options: PolymarketVenueOptions;
  readonly #marketData: MarketDataClient;
  readonly #orders: PolymarketOrderStore;
  readonly #executor: OrderExecutor;

  constructor(options: PolymarketVenueOptions) {
    const { db, host, account, dryRunBalanceMicros, now, log, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    this.#options = options;
    this.#marketData = new MarketDataClient({ host, timeoutMs });
    const orders = new PolymarketOrderStore(db, account === null ? DRY_RUN_VENUE : EXCHANGE_VENUE);
    this.#orders = orders;
    this.#executor =
      account === null
        ? createDryRunExecutor(orders, dryRunBalanceMicros, now)
        : new ExchangeExecutor({ orders, trading: new TradingClient({ host, timeoutMs, account }), now, log });
    this.name = this.#executor.name;
    this.asset = this.#executor.asset;
  }

  async listMarkets(at: Date): Promise<StrikeMarket[]> {
    const strikes = await this.#options.strikes(at);
    return strikes.filter(({ expiresAt }) => expiresAt > at).map(({ conditionId: id, ...strike }) => ({ id, ...strike }));
  }

  async getQuote(market: StrikeMarket, at: Date): Promise<Quote> {
    const { tokens, fee } = await this.#marketData.fetchTradingTerms(market.id);
    return buildQuote(await this.#marketData.fetchOrderBook(tokens.YES), fee, at);
  }

  /** @throws OracleError VENUE_REJECTED when the order buys nothing, FEED_UNAVAILABLE while that is unknown; retrying is idempotent */
  async placeOrder(order: VenueOrder): Promise<Fill> {
    const known = await this.#orders.find(order.clientOrderId);
    if (await this.#isStopped()) {
      if (known === null) throw venueRejectedError('the kill switch is on, or new wagers are paused');
      return toFill(await this.#executor.resolveOrder(known));
    }
    const written = known ?? (await this.#orders.insert(await this.#prepareOrder(order)));
    // Preparing the order took seconds, in which the operator may have paused.
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

  async getAccount() {
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

/**
 * Best prices of a YES contract with the levels next to them, and the higher fee of YES at the ask and NO at the bid.
 * @throws OracleError VENUE_REJECTED for a one-sided, crossed or too wide book
 */
export function buildQuote({ bids, asks }: OrderBook, fee: FeeSchedule, at: Date): Quote {
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  if (bid === undefined || ask === undefined) throw venueRejectedError(`the book has no ${bid === undefined ? 'bids' : 'asks'}`);
  if (ask <= bid) throw venueRejectedError(`the book is crossed: bid ${bid}, ask ${ask}`);
  if (ask - bid > MAX_SPREAD + 1e-9) throw venueRejectedError(`the book is too wide: bid ${bid}, ask ${ask}`);
  const book = { bids: bids.slice(0, MAX_KEPT_LEVELS), asks: asks.slice(0, MAX_KEPT_LEVELS) };
  return { bid, ask, fee: Math.max(computeFeeMicros(fee, bid), computeFeeMicros(fee, ask)) / MICROS, at, book };
}
