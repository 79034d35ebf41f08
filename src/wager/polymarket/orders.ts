import type { orderToJsonV2 } from '@polymarket/clob-client-v2';
import type { Collection, Db, Filter } from 'mongodb';
import { OracleError } from '../../errors.ts';
import { isDuplicateKey } from '../../mongo.ts';
import type { Side } from '../sizing.ts';
import type { Fill, Settlement, StrikeMarket } from '../venue.ts';
import type { FeeSchedule } from './fee.ts';

/** An order with its signature, as the client builds and posts it. */
export type SignedOrder = Parameters<typeof orderToJsonV2>[0];

/**
 * SIGNED: written, and perhaps sent; may be sent again as it is. POSTED: the exchange has it, what it bought is not known yet; never sent
 * again. FILLED, REJECTED: final.
 */
export type OrderState = 'SIGNED' | 'POSTED' | 'FILLED' | 'REJECTED';

/** An order at Polymarket, or in a dry run. Amounts in micros. */
export interface OrderDoc {
  /** The client's order id. */
  _id: string;
  venue: string;
  market: StrikeMarket;
  side: Side;
  tokenId: string;
  /** Ordered, at no more than `maxCostMicros`, fee included. */
  contracts: number;
  maxCostMicros: number;
  fee: FeeSchedule;
  /** What is sent, and the hash that the exchange knows it by; null in a dry run. */
  signed: SignedOrder | null;
  orderHash: string | null;
  state: OrderState;
  createdAt: Date;
  /** How often sending has begun, and when it last did. */
  attempts: number;
  sentAt: Date | null;
  rejectedBecause: string | null;
  /** Bought. */
  filledContracts: number;
  costMicros: number;
  filledAt: Date | null;
  settlement: Settlement | null;
}

export const POLYMARKET_INDEXES = [{ collection: 'polymarket_orders', indexes: [{ key: { venue: 1, state: 1, settlement: 1 } }] }];

/** The orders of one venue: one document each, changed by compare-and-set only. */
export class PolymarketOrders {
  readonly #orders: Collection<OrderDoc>;
  readonly #venue: string;

  constructor(db: Db, venue: string) {
    this.#orders = db.collection('polymarket_orders');
    this.#venue = venue;
  }

  /** @throws OracleError VENUE_REJECTED when the order is one of the dry run and money is asked for, or the other way round. */
  async find(id: string): Promise<OrderDoc | null> {
    const order = await this.#orders.findOne({ _id: id });
    if (order === null || order.venue === this.#venue) return order;
    throw new OracleError('VENUE_REJECTED', `Polymarket: order ${id} was placed at ${order.venue}, not at ${this.#venue}`);
  }

  async get(id: string): Promise<OrderDoc> {
    const order = await this.find(id);
    if (order === null) throw new OracleError('NOT_FOUND', `Polymarket: there is no order ${id}`);
    return order;
  }

  /** Writes an order unless there is one of its id already, and returns the one that stands. */
  async insert(order: OrderDoc): Promise<OrderDoc> {
    try {
      await this.#orders.insertOne(order);
      return order;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.get(order._id);
    }
  }

  /** Notes that a signed order is about to be sent; null when it is not to be sent any more. */
  beginSending(id: string, sentAt: Date): Promise<OrderDoc | null> {
    const change = { $set: { sentAt }, $inc: { attempts: 1 } };
    return this.#orders.findOneAndUpdate({ _id: id, state: 'SIGNED' }, change, { returnDocument: 'after' });
  }

  /** The exchange has the order: it is not sent again. */
  acknowledge(id: string): Promise<OrderDoc> {
    return this.#change({ _id: id, state: 'SIGNED' }, { state: 'POSTED' });
  }

  /** What an order bought stands, also against a rejection that another process wrote without knowing of it. */
  fill(id: string, bought: Pick<OrderDoc, 'filledContracts' | 'costMicros' | 'filledAt'>): Promise<OrderDoc> {
    return this.#change({ _id: id, state: { $ne: 'FILLED' } }, { ...bought, state: 'FILLED', rejectedBecause: null });
  }

  /** Ends an order that bought nothing, unless it has been sent again meanwhile. */
  reject({ _id, attempts }: OrderDoc, rejectedBecause: string): Promise<OrderDoc> {
    return this.#change({ _id, attempts, state: { $in: ['SIGNED', 'POSTED'] } }, { state: 'REJECTED', rejectedBecause });
  }

  /** Writes how an order ended, once; returns what stands. */
  async settle(id: string, settlement: Settlement): Promise<Settlement> {
    return (await this.#change({ _id: id, settlement: null }, { settlement })).settlement as Settlement;
  }

  /** Cost of all orders that may still pay, in micros: what filled ones cost, and the most that unfinished ones may. */
  async openMicros(): Promise<number> {
    const unfinished = await this.#sum({ state: { $in: ['SIGNED', 'POSTED'] } }, '$maxCostMicros');
    return unfinished + (await this.#sum({ state: 'FILLED', settlement: null }, '$costMicros'));
  }

  /** What all orders together have cost and paid out, in micros. */
  async turnover(): Promise<{ costMicros: number; payoutMicros: number }> {
    const costMicros = await this.#sum({ state: 'FILLED' }, '$costMicros');
    return { costMicros, payoutMicros: await this.#sum({ settlement: { $ne: null } }, '$settlement.payoutMicros') };
  }

  async #sum(filter: Filter<OrderDoc>, field: string): Promise<number> {
    const stages = [{ $match: { ...filter, venue: this.#venue } }, { $group: { _id: null, sum: { $sum: field } } }];
    const [total] = await this.#orders.aggregate<{ sum: number }>(stages).toArray();
    return Number(total?.sum ?? 0);
  }

  async #change(filter: Filter<OrderDoc> & { _id: string }, set: Partial<OrderDoc>): Promise<OrderDoc> {
    await this.#orders.updateOne(filter, { $set: set });
    return this.get(filter._id);
  }
}

/**
 * What an order bought.
 * @throws OracleError VENUE_REJECTED, the same each time, when it bought nothing.
 */
export function fillOf(order: OrderDoc): Fill {
  if (order.state === 'FILLED') {
    return { orderId: order._id, contracts: order.filledContracts, costMicros: order.costMicros, at: order.filledAt as Date };
  }
  throw new OracleError('VENUE_REJECTED', `Polymarket: ${order.rejectedBecause}`);
}
