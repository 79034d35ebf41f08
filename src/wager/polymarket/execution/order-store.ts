import type { orderToJsonV2 } from '@polymarket/clob-client-v2';
import type { Collection, Db, Filter } from 'mongodb';
import { OracleError } from '../../../platform/errors.ts';
import { isFirstWrite } from '../../../platform/mongo.ts';
import type { Fill, VenueOrder, WagerSettlement } from '../../venue.ts';
import type { OrderPlan } from '../order-plan.ts';

export type SignedOrder = Parameters<typeof orderToJsonV2>[0];
type OrderedTerms = Pick<VenueOrder, 'market' | 'side'> & Pick<OrderPlan, 'tokenId' | 'contracts' | 'maxCostMicros' | 'fee'>;

/** An order at Polymarket, or in a dry run. Amounts in micros. */
export interface PolymarketOrderDoc extends OrderedTerms {
  _id: string;
  venue: string;
  /** The signed order and its hash, its id at the exchange; null in a dry run. */
  signed: SignedOrder | null;
  orderHash: string | null;
  /** SIGNED: stored and perhaps sent; may be sent again unchanged. POSTED: accepted, fills unknown; never sent again. Others: final. */
  state: 'SIGNED' | 'POSTED' | 'FILLED' | 'REJECTED';
  createdAt: Date;
  /** Number of send attempts, and the time of the last. */
  attempts: number;
  sentAt: Date | null;
  rejectedBecause: string | null;
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

  /** @throws OracleError VENUE_REJECTED for a dry-run order at the exchange, or the reverse */
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

  /** Stores an order unless its id exists; returns the stored one. */
  async insert(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc> {
    return (await isFirstWrite(this.#orders.insertOne(order))) ? order : this.get(order._id);
  }

  /** Records a send attempt; null when the order must not be sent any more. */
  beginSending(id: string, sentAt: Date): Promise<PolymarketOrderDoc | null> {
    const change = { $set: { sentAt }, $inc: { attempts: 1 } };
    return this.#orders.findOneAndUpdate({ _id: id, state: 'SIGNED' }, change, { returnDocument: 'after' });
  }

  /** Records that the exchange has the order, so that it is not sent again. */
  acknowledge(id: string): Promise<PolymarketOrderDoc> {
    return this.#update({ _id: id, state: 'SIGNED' }, { state: 'POSTED' });
  }

  /** Records a fill; overrides a rejection by another process that did not know of it. */
  fill(id: string, filled: Pick<PolymarketOrderDoc, 'filledContracts' | 'costMicros' | 'filledAt'>): Promise<PolymarketOrderDoc> {
    return this.#update({ _id: id, state: { $ne: 'FILLED' } }, { ...filled, state: 'FILLED', rejectedBecause: null });
  }

  /** Ends an order without fills, unless it was sent again meanwhile. */
  reject({ _id, attempts }: PolymarketOrderDoc, rejectedBecause: string): Promise<PolymarketOrderDoc> {
    return this.#update({ _id, attempts, state: { $in: ['SIGNED', 'POSTED'] } }, { state: 'REJECTED', rejectedBecause });
  }

  /** Stores the settlement once; returns the stored one. */
  async settle(id: string, settlement: WagerSettlement): Promise<WagerSettlement> {
    return (await this.#update({ _id: id, settlement: null }, { settlement })).settlement as WagerSettlement;
  }

  /** Cost of filled, unsettled orders plus the maximum cost of unfinished ones, in micros. */
  async sumOpenMicros(): Promise<number> {
    const unfinished = await this.#sum({ state: { $in: ['SIGNED', 'POSTED'] } }, '$maxCostMicros');
    return unfinished + (await this.#sum({ state: 'FILLED', settlement: null }, '$costMicros'));
  }

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

/** The fill of an order. @throws OracleError VENUE_REJECTED when it bought nothing */
export function toFill(order: PolymarketOrderDoc): Fill {
  if (order.state === 'FILLED') {
    return { orderId: order._id, contracts: order.filledContracts, costMicros: order.costMicros, at: order.filledAt as Date };
  }
  throw new OracleError('VENUE_REJECTED', `Polymarket: ${order.rejectedBecause}`);
}
