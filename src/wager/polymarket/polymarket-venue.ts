import type { Db } from 'mongodb';
import type { Log } from '../../log.ts';
import type { Side } from '../sizing.ts';
import {
  type Account,
  type Fill,
  type Listing,
  MICROS,
  type Order,
  type Quote,
  type Settlement,
  type StrikeMarket,
  type Venue,
} from '../venue.ts';
import { Clob } from './clob.ts';
import type { Desk } from './desk.ts';
import { DRY_RUN, DryRunDesk } from './dry-run-desk.ts';
import { EXCHANGE, ExchangeDesk } from './exchange-desk.ts';
import { planOrder, rejected } from './order-plan.ts';
import { fillOf, type OrderDoc, PolymarketOrders } from './orders.ts';
import { quoteOf } from './quote.ts';
import { Trading, type TradingAccount } from './trading.ts';

/** A strike as it is listed; what it trades in is the exchange's to tell. */
export interface PolymarketStrike {
  conditionId: string;
  question: string;
  strikeUsd: number;
  expiresAt: Date;
  listing?: Listing;
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

const TIMEOUT_MS = 45_000;

/**
 * Polymarket, for money or as a dry run. A contract is one token of a market: YES and NO are bought, each from its own book, never sold.
 * Settlement books what a winning order is worth; collecting it on chain is the wallet owner's.
 */
export class PolymarketVenue implements Venue {
  readonly sameBook = [EXCHANGE, DRY_RUN];
  readonly #options: PolymarketVenueOptions;
  readonly #clob: Clob;
  readonly #orders: PolymarketOrders;
  readonly #desk: Desk;

  constructor(options: PolymarketVenueOptions) {
    const { db, host, account, dryRunBalanceMicros: openingBalanceMicros, now, log, timeoutMs = TIMEOUT_MS } = options;
    this.#options = options;
    this.#clob = new Clob({ host, timeoutMs });
    const orders = new PolymarketOrders(db, account === null ? DRY_RUN : EXCHANGE);
    this.#orders = orders;
    this.#desk =
      account === null
        ? new DryRunDesk({ orders, openingBalanceMicros, now })
        : new ExchangeDesk({ orders, trading: new Trading({ host, timeoutMs, account }), now, log });
  }

  get name(): string {
    return this.#desk.name;
  }

  get asset(): string {
    return this.#desk.asset;
  }

  async markets(at: Date): Promise<StrikeMarket[]> {
    const strikes = await this.#options.strikes(at);
    return strikes.filter(({ expiresAt }) => expiresAt > at).map(({ conditionId: id, ...strike }) => ({ id, ...strike }));
  }

  /** @throws OracleError VENUE_REJECTED when the book of YES has no two sides, or they are too far apart to say a price. */
  async quote(market: StrikeMarket, at: Date): Promise<Quote> {
    const { tokens, fee } = await this.#clob.terms(market.id);
    return quoteOf(await this.#clob.book(tokens.YES), fee, at);
  }

  /**
   * @throws OracleError VENUE_REJECTED when the order buys nothing, FEED_UNAVAILABLE while it is not known whether it does: placed again,
   * it is the same order.
   */
  async place(order: Order): Promise<Fill> {
    const known = await this.#orders.find(order.clientOrderId);
    if (await this.#stopped()) {
      if (known === null) throw rejected('the kill switch is on, or new wagers are paused');
      return fillOf(await this.#desk.resolve(known));
    }
    const written = known ?? (await this.#orders.insert(await this.#prepared(order)));
    // The book, the account and the signature took seconds: what was let in may have been stopped since.
    if (await this.#stopped()) return fillOf(await this.#desk.resolve(written));
    return fillOf(await this.#desk.carryOut(written));
  }

  async #stopped(): Promise<boolean> {
    const { killSwitch, isPaused } = this.#options;
    return killSwitch || ((await isPaused?.()) ?? false);
  }

  async find(clientOrderId: string): Promise<Fill | null> {
    const order = await this.#orders.find(clientOrderId);
    return order === null ? null : fillOf(await this.#desk.resolve(order));
  }

  async winner({ id, expiresAt }: StrikeMarket, at: Date): Promise<Side | null> {
    return at < expiresAt ? null : this.#clob.winner(id);
  }

  async settle(orderId: string, at: Date): Promise<Settlement | null> {
    const order = await this.#orders.get(orderId);
    if (order.settlement !== null) return order.settlement;
    const winner = await this.winner(order.market, at);
    if (winner === null) return null;
    const payoutMicros = winner === order.side ? Math.round(order.filledContracts * MICROS) : 0;
    return this.#orders.settle(orderId, { winner, payoutMicros, at });
  }

  async account(): Promise<Account> {
    const [cashMicros, openMicros] = await Promise.all([this.#desk.cashMicros(), this.#orders.openMicros()]);
    return { asset: this.asset, cashMicros, openMicros };
  }

  async #prepared(order: Order): Promise<OrderDoc> {
    const terms = await this.#clob.terms(order.market.id);
    const [book, { cashMicros, openMicros }] = await Promise.all([this.#clob.book(terms.tokens[order.side]), this.account()]);
    const { maxStakeUsd, maxOpenUsd } = this.#options;
    const limits = { maxStakeMicros: maxStakeUsd * MICROS, maxOpenMicros: maxOpenUsd * MICROS, openMicros, cashMicros };
    return this.#desk.prepare(order, planOrder(order, terms, book, limits), book);
  }
}
