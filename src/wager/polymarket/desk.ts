import type { Order } from '../venue.ts';
import type { OrderBook } from './clob.ts';
import type { OrderPlan } from './order-plan.ts';
import type { OrderDoc } from './orders.ts';

/** Where planned orders go: to the exchange, or nowhere. */
export interface Desk {
  readonly name: string;
  readonly asset: string;
  /** What is free to stake, in micros. */
  cashMicros(): Promise<number>;
  /** The document that is to be written before anything is done. */
  prepare(order: Order, plan: OrderPlan, book: OrderBook): Promise<OrderDoc>;
  /** Carries a written order out; returns it FILLED or REJECTED. @throws OracleError FEED_UNAVAILABLE while that is not known. */
  carryOut(order: OrderDoc): Promise<OrderDoc>;
  /** Finds out how a written order ended, without sending it. @throws OracleError FEED_UNAVAILABLE while that is not known. */
  resolve(order: OrderDoc): Promise<OrderDoc>;
}

/** An order as it is first written, signed or not. */
export function newOrder({ name }: Desk, order: Order, plan: OrderPlan, createdAt: Date): OrderDoc {
  const { clientOrderId: _id, market, side } = order;
  const { tokenId, contracts, maxCostMicros, fee } = plan;
  return {
    _id,
    venue: name,
    market,
    side,
    tokenId,
    contracts,
    maxCostMicros,
    fee,
    signed: null,
    orderHash: null,
    state: 'SIGNED',
    createdAt,
    attempts: 0,
    sentAt: null,
    rejectedBecause: null,
    filledContracts: 0,
    costMicros: 0,
    filledAt: null,
    settlement: null,
  };
}
