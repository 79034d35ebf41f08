import type { VenueOrder } from '../../venue.ts';
import type { OrderBook } from '../api/market-data-client.ts';
import type { OrderPlan } from '../order-plan.ts';
import type { PolymarketOrderDoc } from './order-store.ts';

/** Where planned orders go: to the exchange, or nowhere. */
export interface OrderExecutor {
  readonly name: string;
  readonly asset: string;
  /** What is free to stake, in micros. */
  getCashMicros(): Promise<number>;
  /** The document that is to be written before anything is done. */
  prepareOrder(order: VenueOrder, plan: OrderPlan, book: OrderBook): Promise<PolymarketOrderDoc>;
  /** Carries a written order out; returns it FILLED or REJECTED. @throws OracleError FEED_UNAVAILABLE while that is not known. */
  execute(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc>;
  /** Finds out how a written order ended, without sending it. @throws OracleError FEED_UNAVAILABLE while that is not known. */
  resolveOrder(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc>;
}

/** An order as it is first written, signed or not. */
export function buildOrderDoc({ name }: OrderExecutor, order: VenueOrder, plan: OrderPlan, createdAt: Date): PolymarketOrderDoc {
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
