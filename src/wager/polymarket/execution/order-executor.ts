import type { VenueOrder } from '../../venue.ts';
import type { OrderBook } from '../api/market-data-client.ts';
import type { OrderPlan } from '../order-plan.ts';
import type { PolymarketOrderDoc } from './order-store.ts';

/** Executes planned orders, at the exchange or as a dry run. */
export interface OrderExecutor {
  readonly name: string;
  readonly asset: string;
  getCashMicros(): Promise<number>;
  prepareOrder(order: VenueOrder, plan: OrderPlan, book: OrderBook): Promise<PolymarketOrderDoc>;
  /** Executes a stored order; returns it FILLED or REJECTED. @throws OracleError FEED_UNAVAILABLE while that is unknown */
  execute(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc>;
  /** Determines the result of a stored order without sending it. @throws OracleError FEED_UNAVAILABLE while that is unknown */
  resolveOrder(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc>;
}

export function buildOrderDoc(venue: string, order: VenueOrder, plan: OrderPlan, createdAt: Date): PolymarketOrderDoc {
  const { clientOrderId: _id, market, side } = order;
  const { tokenId, contracts, maxCostMicros, fee } = plan;
  return {
    _id,
    venue,
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
