import { MICROS, type VenueOrder } from '../../venue.ts';
import type { OrderBook } from '../api/market-data-client.ts';
import { computeFeeMicros } from '../fee.ts';
import type { OrderPlan } from '../order-plan.ts';
import { PRICE_UNITS } from '../tick-price.ts';
import { buildOrderDoc, type OrderExecutor } from './order-executor.ts';
import type { PolymarketOrderDoc, PolymarketOrderStore } from './order-store.ts';

export interface DryRunExecutorOptions {
  orders: PolymarketOrderStore;
  openingBalanceMicros: number;
  now(): Date;
}

export const DRY_RUN_VENUE = 'polymarket-dry-run';

/** Fills orders from the current book without sending them: real prices, simulated money. */
export class DryRunExecutor implements OrderExecutor {
  readonly name = DRY_RUN_VENUE;
  readonly asset = 'PAPER-USD';
  readonly #options: DryRunExecutorOptions;

  constructor(options: DryRunExecutorOptions) {
    this.#options = options;
  }

  async getCashMicros(): Promise<number> {
    const { costMicros, payoutMicros } = await this.#options.orders.sumTurnover();
    return this.#options.openingBalanceMicros - costMicros + payoutMicros;
  }

  async prepareOrder(order: VenueOrder, plan: OrderPlan, book: OrderBook): Promise<PolymarketOrderDoc> {
    const now = this.#options.now();
    const { contracts, costMicros } = fillFromBook(book, plan);
    const written = buildOrderDoc(this, order, plan, now);
    if (contracts === 0) return { ...written, state: 'REJECTED', rejectedBecause: 'no seller at the limit' };
    return { ...written, state: 'FILLED', filledContracts: contracts, costMicros, filledAt: now };
  }

  async execute(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc> {
    return order;
  }

  async resolveOrder(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc> {
    return order;
  }
}

/** Fills up to the plan's contracts from the best ask within its price; cost in micros, fee included, rounded up. */
export function fillFromBook({ asks }: OrderBook, { contracts, priceUnits, fee }: OrderPlan): { contracts: number; costMicros: number } {
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
