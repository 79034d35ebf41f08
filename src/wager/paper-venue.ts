import type { Collection, Db } from 'mongodb';
import { OracleError } from '../errors.ts';
import { DAY_MS, type Day, dayOf } from '../forecast/day.ts';
import { isDuplicateKey } from '../mongo.ts';
import { paperQuote, type QuoteReference, weeklyStrikes } from './paper-quote.ts';
import type { Side } from './sizing.ts';
import { type Account, type Fill, MICROS, type Order, type Quote, type Settlement, type StrikeMarket, type Venue } from './venue.ts';

interface OrderDoc {
  /** The client's order id. */
  _id: string;
  market: StrikeMarket;
  side: Side;
  contracts: number;
  costMicros: number;
  at: Date;
  settlement: Settlement | null;
}

/** A movement of the account; its `_id` says what caused it, so that it is booked once. */
interface LedgerEntry {
  _id: string;
  amountMicros: number;
  at: Date;
}

export interface PaperVenueOptions {
  db: Db;
  openingBalanceMicros: number;
  /** Spot price and volatility that quotes are made from. */
  reference(at: Date): Promise<QuoteReference>;
  /** The settled close of a day in USD, or null while it is not known. */
  close(day: Day, at: Date): Promise<number | null>;
}

export const PAPER_INDEXES = [{ collection: 'paper_orders', indexes: [{ key: { settlement: 1 } }] }];

/** A venue without money: quotes of its own making, fills at the quote, books in the database, settlement by the daily close. */
export class PaperVenue implements Venue {
  readonly name = 'paper';
  readonly asset = 'PAPER-USD';
  readonly sameBook = ['paper'];
  readonly #orders: Collection<OrderDoc>;
  readonly #ledger: Collection<LedgerEntry>;
  readonly #options: PaperVenueOptions;

  constructor(options: PaperVenueOptions) {
    this.#options = options;
    this.#orders = options.db.collection('paper_orders');
    this.#ledger = options.db.collection('paper_ledger');
  }

  async markets(at: Date): Promise<StrikeMarket[]> {
    const { spotUsd } = await this.#options.reference(at);
    return weeklyStrikes(spotUsd, at);
  }

  async quote(market: StrikeMarket, at: Date): Promise<Quote> {
    return paperQuote(market, await this.#options.reference(at), at);
  }

  async place(order: Order): Promise<Fill> {
    return (await this.find(order.clientOrderId)) ?? this.#booked(await this.#fill(order));
  }

  async find(clientOrderId: string): Promise<Fill | null> {
    const stored = await this.#orders.findOne({ _id: clientOrderId });
    return stored === null ? null : this.#booked(stored);
  }

  async #booked(stored: OrderDoc): Promise<Fill> {
    // Booked again after a crash between the order and its booking; the entry's key keeps it single.
    await this.#book(`${stored._id}:stake`, -stored.costMicros, stored.at);
    return { orderId: stored._id, contracts: stored.contracts, costMicros: stored.costMicros, at: stored.at };
  }

  async #fill(order: Order): Promise<OrderDoc> {
    const { bid, ask, fee } = await this.quote(order.market, order.at);
    const unitCost = Math.round((order.side === 'YES' ? ask + fee : 1 - bid + fee) * MICROS);
    if (unitCost > order.limitCostMicros) {
      throw new OracleError('VENUE_REJECTED', `A contract costs ${unitCost} micros, above the limit of ${order.limitCostMicros}`);
    }
    const costMicros = unitCost * order.contracts;
    const { cashMicros } = await this.account();
    if (costMicros > cashMicros)
      throw new OracleError('VENUE_REJECTED', `The order costs ${costMicros} micros, the account has ${cashMicros}`);
    const { clientOrderId: _id, market, side, contracts, at } = order;
    const doc: OrderDoc = { _id, market, side, contracts, costMicros, at, settlement: null };
    try {
      await this.#orders.insertOne(doc);
      return doc;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return (await this.#orders.findOne({ _id })) as OrderDoc;
    }
  }

  async winner(market: StrikeMarket, at: Date): Promise<Side | null> {
    if (at < market.expiresAt) return null;
    const close = await this.#options.close(dayOf(market.expiresAt.getTime() - DAY_MS), at);
    if (close === null) return null;
    return close > market.strikeUsd ? 'YES' : 'NO';
  }

  async settle(orderId: string, at: Date): Promise<Settlement | null> {
    const order = await this.#orders.findOne({ _id: orderId });
    if (order === null) throw new OracleError('NOT_FOUND', `The paper venue has no order ${orderId}`);
    const settlement = order.settlement ?? (await this.#decide(order, at));
    if (settlement === null) return null;
    await this.#book(`${orderId}:payout`, settlement.payoutMicros, settlement.at);
    return settlement;
  }

  async #decide(order: OrderDoc, at: Date): Promise<Settlement | null> {
    const winner = await this.winner(order.market, at);
    if (winner === null) return null;
    const payoutMicros = winner === order.side ? order.contracts * MICROS : 0;
    await this.#orders.updateOne({ _id: order._id, settlement: null }, { $set: { settlement: { winner, payoutMicros, at } } });
    return (await this.#orders.findOne({ _id: order._id }))?.settlement ?? null;
  }

  async account(): Promise<Account> {
    await this.#book('opening', this.#options.openingBalanceMicros, new Date(0));
    const [[cash], [open]] = await Promise.all([
      this.#ledger.aggregate<{ sum: number }>([{ $group: { _id: null, sum: { $sum: '$amountMicros' } } }]).toArray(),
      this.#orders
        .aggregate<{ sum: number }>([{ $match: { settlement: null } }, { $group: { _id: null, sum: { $sum: '$costMicros' } } }])
        .toArray(),
    ]);
    return { asset: this.asset, cashMicros: Number(cash?.sum ?? 0), openMicros: Number(open?.sum ?? 0) };
  }

  async #book(_id: string, amountMicros: number, at: Date): Promise<void> {
    await this.#ledger.updateOne({ _id }, { $setOnInsert: { amountMicros, at } }, { upsert: true }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
  }
}
