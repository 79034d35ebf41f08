import { MICROS, type Order } from '../venue.ts';
import type { OrderBook } from './clob.ts';
import { type Desk, newOrder } from './desk.ts';
import { feeMicros } from './fee.ts';
import type { OrderPlan } from './order-plan.ts';
import type { OrderDoc, PolymarketOrders } from './orders.ts';
import { PRICE_UNITS } from './tick-price.ts';

export interface DryRunDeskOptions {
  orders: PolymarketOrders;
  openingBalanceMicros: number;
  now(): Date;
}

export const DRY_RUN = 'polymarket-dry-run';

/** Fills orders from the book as it stands, and sends none: the prices are the market's, the money is not real. */
export class DryRunDesk implements Desk {
  readonly name = DRY_RUN;
  readonly asset = 'PAPER-USD';
  readonly #options: DryRunDeskOptions;

  constructor(options: DryRunDeskOptions) {
    this.#options = options;
  }

  async cashMicros(): Promise<number> {
    const { costMicros, payoutMicros } = await this.#options.orders.turnover();
    return this.#options.openingBalanceMicros - costMicros + payoutMicros;
  }

  async prepare(order: Order, plan: OrderPlan, book: OrderBook): Promise<OrderDoc> {
    const now = this.#options.now();
    const { contracts, costMicros } = walkBook(book, plan);
    const written = newOrder(this, order, plan, now);
    if (contracts === 0) return { ...written, state: 'REJECTED', rejectedBecause: 'nobody sells at the limit' };
    return { ...written, state: 'FILLED', filledContracts: contracts, costMicros, filledAt: now };
  }

  async carryOut(order: OrderDoc): Promise<OrderDoc> {
    return order;
  }

  async resolve(order: OrderDoc): Promise<OrderDoc> {
    return order;
  }
}

/** Buys up to the plan's contracts from the best ask on, at no more than its price; fee included, in micros, rounded up. */
export function walkBook({ asks }: OrderBook, { contracts, priceUnits, fee }: OrderPlan): { contracts: number; costMicros: number } {
  let left = contracts;
  let costMicros = 0;
  for (const { price, size } of asks) {
    if (price * PRICE_UNITS > priceUnits + 1e-6 || left <= 0) break;
    const bought = Math.min(left, size);
    costMicros += bought * (price * MICROS + feeMicros(fee, price));
    left -= bought;
  }
  return { contracts: roundToMicros(contracts - left), costMicros: Math.ceil(costMicros - 1e-6) };
}

function roundToMicros(amount: number): number {
  return Math.round(amount * MICROS) / MICROS;
}
