import type { orderToJsonV2 } from '@polymarket/clob-client-v2';
import type { Collection, Db, Filter } from 'mongodb';
import { OracleError } from '../../../platform/errors.ts';
import { isDuplicateKey } from '../../../platform/mongo.ts';
import type { Side } from '../../sizing.ts';
import type { Fill, StrikeMarket, WagerSettlement } from '../../venue.ts';
import type { FeeSchedule } from '../fee.ts';

/** An order with its signature, as the client builds and posts it. */
export type SignedOrder = Parameters<typeof orderToJsonV2>[0];

/**
 * SIGNED: written, and perhaps sent; may be sent again as it is. POSTED: the exchange has it, what it bought is not known yet; never sent
 * again. FILLED, REJECTED: final.
 */
export type OrderState = 'SIGNED' | 'POSTED' | 'FILLED' | 'REJECTED';

/** An order at Polymarket, or in a dry run. Amounts in micros. */
export interface PolymarketOrderDoc {
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
  settlement: WagerSettlement | null;
}

export const POLYMARKET_INDEXES = [{ collection: 'polymarket_orders', indexes: [{ key: { venue: 1, state: 1, settlement: 1 } }] }];

/** The orders of one venue: one document each, changed by compare-and-set only. */
export class PolymarketOrderStore {
  readonly #orders: Collection<PolymarketOrderDoc>;
  readonly #venue: string;

  constructor(db: Db, venue: string) {
    this.#orders = db.collection('polymarket_orders');
    this.#venue = venue;
  }

  /** @throws OracleError VENUE_REJECTED when the order is one of the dry run and money is asked for, or the other way round. */
  async find(id: string): Promise<PolymarketOrderDoc | null> {
    const order = await this.#orders.findOne({ _id: id });
    if (order === null || order.venue === this.#venue) return order;
    throw new OracleError('VENUE_REJECTED', `Polymarket: order ${id} was placed at ${order.venue}, not at ${this.#venue}`);
  }

  async get(id: string): Promise<PolymarketOrderDoc> {
    const order = await this.find(id);
    if (order === null) throw new OracleError('NOT_FOUND', `Polymarket: there is no order ${id}`);
    return order;
  }

  /** Writes an order unless there is one of its id already, and returns the one that stands. */
  async insert(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc> {
    try {
      await this.#orders.insertOne(order);
      return order;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.get(order._id);
    }
  }

  /** Notes that a signed order is about to be sent; null when it is not to be sent any more. */
  beginSending(id: string, sentAt: Date): Promise<PolymarketOrderDoc | null> {
    const change = { $set: { sentAt }, $inc: { attempts: 1 } };
    return this.#orders.findOneAndUpdate({ _id: id, state: 'SIGNED' }, change, { returnDocument: 'after' });
  }

  /** The exchange has the order: it is not sent again. */
  acknowledge(id: string): Promise<PolymarketOrderDoc> {
    return this.#update({ _id: id, state: 'SIGNED' }, { state: 'POSTED' });
  }

  /** What an order bought stands, also against a rejection that another process wrote without knowing of it. */
  fill(id: string, filled: Pick<PolymarketOrderDoc, 'filledContracts' | 'costMicros' | 'filledAt'>): Promise<PolymarketOrderDoc> {
    return this.#update({ _id: id, state: { $ne: 'FILLED' } }, { ...filled, state: 'FILLED', rejectedBecause: null });
  }

  /** Ends an order that bought nothing, unless it has been sent again meanwhile. */
  reject({ _id, attempts }: PolymarketOrderDoc, rejectedBecause: string): Promise<PolymarketOrderDoc> {
    return this.#update({ _id, attempts, state: { $in: ['SIGNED', 'POSTED'] } }, { state: 'REJECTED', rejectedBecause });
  }

  /** Writes how an order ended, once; returns what stands. */
  async settle(id: string, settlement: WagerSettlement): Promise<WagerSettlement> {
    return (await this.#update({ _id: id, settlement: null }, { settlement })).settlement as WagerSettlement;
  }

  /** Cost of all orders that may still pay, in micros: what filled ones cost, and the most that unfinished ones may. */
  async sumOpenMicros(): Promise<number> {
    const unfinished = await this.#sum({ state: { $in: ['SIGNED', 'POSTED'] } }, '$maxCostMicros');
    return unfinished + (await this.#sum({ state: 'FILLED', settlement: null }, '$costMicros'));
  }

  /** What all orders together have cost and paid out, in micros. */
  async sumTurnover(): Promise<{ costMicros: number; payoutMicros: number }> {
    const costMicros = await this.#sum({ state: 'FILLED' }, '$costMicros');
    return { costMicros, payoutMicros: await this.#sum({ settlement: { $ne: null } }, '$settlement.payoutMicros') };
  }

  async #sum(filter: Filter<PolymarketOrderDoc>, field: string): Promise<number> {
    const stages = [{ $match: { ...filter, venue: this.#venue } }, { $group: { _id: null, sum: { $sum: field } } }];
    const [total] = await this.#orders.aggregate<{ sum: number }>(stages).toArray();
    return Number(total?.sum ?? 0);
  }

  async #update(filter: Filter<PolymarketOrderDoc> & { _id: string }, set: Partial<PolymarketOrderDoc>): Promise<PolymarketOrderDoc> {
    await this.#orders.updateOne(filter, { $set: set });
    return this.get(filter._id);
  }
}

/**
 * What an order bought.
 * @throws OracleError VENUE_REJECTED, the same each time, when it bought nothing.
 */
export function toFill(order: PolymarketOrderDoc): Fill {
  if (order.state === 'FILLED') {
    return { orderId: order._id, contracts: order.filledContracts, costMicros: order.costMicros, at: order.filledAt as Date };
  }
  throw new OracleError('VENUE_REJECTED', `Polymarket: ${order.rejectedBecause}`);
}
