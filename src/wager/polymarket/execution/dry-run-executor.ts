import { MICROS } from '../../venue.ts';
import type { OrderBook } from '../api/market-data-client.ts';
import { computeFeeMicros } from '../fee.ts';
import type { OrderPlan } from '../order-plan.ts';
import { PRICE_UNITS } from '../tick-price.ts';
import { buildOrderDoc, type OrderExecutor } from './order-executor.ts';
import type { PolymarketOrderStore } from './order-store.ts';

export const DRY_RUN_VENUE = 'polymarket-dry-run';

/** Fills orders from the current book without sending them: real prices, simulated money. */
export function createDryRunExecutor(orders: PolymarketOrderStore, openingBalanceMicros: number, now: () => Date): OrderExecutor {
  return {
    name: DRY_RUN_VENUE,
    asset: 'PAPER-USD',
    async getCashMicros() {
      const { costMicros, payoutMicros } = await orders.sumTurnover();
      return openingBalanceMicros - costMicros + payoutMicros;
    },
    async prepareOrder(order, plan, book) {
      const at = now();
      const { contracts, costMicros } = fillFromBook(book, plan);
      const written = buildOrderDoc(DRY_RUN_VENUE, order, plan, at);
      if (contracts === 0) return { ...written, state: 'REJECTED', rejectedBecause: 'no seller at the limit' };
      return { ...written, state: 'FILLED', filledContracts: contracts, costMicros, filledAt: at };
    },
    execute: async (order) => order,
    resolveOrder: async (order) => order,
  };
}

/** Fills up to the plan's contracts from the best ask within its price; cost in micros, fee included, rounded up. */
function fillFromBook({ asks }: OrderBook, { contracts, priceUnits, fee }: OrderPlan): { contracts: number; costMicros: number } {
  let left = contracts;
  let costMicros = 0;
  for (const { price, size } of asks) {
    if (price * PRICE_UNITS > priceUnits + 1e-6 || left <= 0) break;
    const filled = Math.min(left, size);
    costMicros += filled * (price * MICROS + computeFeeMicros(fee, price));
    left -= filled;
  }
  return { contracts: Math.round((contracts - left) * MICROS) / MICROS, costMicros: Math.ceil(costMicros - 1e-6) };
}
