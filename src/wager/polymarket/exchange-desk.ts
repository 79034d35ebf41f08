import { OracleError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { MICROS, type Order } from '../venue.ts';
import { type Desk, newOrder } from './desk.ts';
import { feeMicros } from './fee.ts';
import type { OrderPlan } from './order-plan.ts';
import type { OrderDoc, PolymarketOrders } from './orders.ts';
import type { Bought, Trading } from './trading.ts';

export interface ExchangeDeskOptions {
  orders: PolymarketOrders;
  trading: Trading;
  now(): Date;
  log: Log;
}

export const EXCHANGE = 'polymarket';
/** Trades are listed one by one: until so long after an order was sent, those that are listed may not be all. */
const TRADES_COMPLETE_AFTER_MS = 10_000;
/** An order that the exchange shows no trade of so long after it was sent has bought nothing: it is never on the book. */
const NOTHING_BOUGHT_AFTER_MS = 120_000;

/**
 * Sends orders, each at most once in effect. What is sent was signed and written down before, so that whatever happens between sending
 * and writing the result, the same order is looked up and, where the exchange does not know it, sent again as it is: under the same
 * hash the exchange fills no more than one.
 */
export class ExchangeDesk implements Desk {
  readonly name = EXCHANGE;
  readonly asset = 'pUSD';
  readonly #options: ExchangeDeskOptions;

  constructor(options: ExchangeDeskOptions) {
    this.#options = options;
  }

  cashMicros(): Promise<number> {
    return this.#options.trading.balanceMicros();
  }

  async prepare(order: Order, plan: OrderPlan): Promise<OrderDoc> {
    const signed = await this.#options.trading.sign(plan);
    return { ...newOrder(this, order, plan, this.#options.now()), ...signed };
  }

  async carryOut(order: OrderDoc): Promise<OrderDoc> {
    const { orders, trading, now, log } = this.#options;
    const checked = await this.#lookedUp(order);
    if (checked.state !== 'SIGNED') return this.resolve(checked);
    const sending = await orders.beginSending(order._id, now());
    if (sending === null) return this.resolve(await orders.get(order._id));
    const outcome = await trading.post(sending);
    log.info({ order: order._id, orderHash: order.orderHash, outcome: outcome.kind }, 'order sent to Polymarket');
    if (outcome.kind === 'MATCHED') return this.#fill(sending, outcome);
    // A refusal of a second attempt says nothing about the first: only the trades do.
    if (outcome.kind === 'REFUSED' && sending.attempts === 1) {
      const ended = await orders.reject(sending, outcome.reason);
      if (ended.state !== 'SIGNED') return this.resolve(ended);
    }
    return this.resolve(await orders.acknowledge(order._id));
  }

  async resolve(order: OrderDoc): Promise<OrderDoc> {
    const { orders, trading } = this.#options;
    if (isFinal(order)) return order;
    if (order.sentAt === null) return this.#ended(await orders.reject(order, 'the order was never sent'));
    const found = await trading.lookUp(order);
    if (found.contracts > 0) return this.#fillFromTrades(order, found);
    if (found.open || this.#sinceSentMs(order) < NOTHING_BOUGHT_AFTER_MS) throw unknown(order);
    return this.#ended(await orders.reject(order, 'nobody sold at the limit'));
  }

  /** An order that may have been sent before, with what the exchange knows of it; still SIGNED when it knows nothing. */
  async #lookedUp(order: OrderDoc): Promise<OrderDoc> {
    if (order.state !== 'SIGNED' || order.sentAt === null) return order;
    const found = await this.#options.trading.lookUp(order);
    if (found.contracts > 0) return this.#fillFromTrades(order, found);
    return found.known ? this.#options.orders.acknowledge(order._id) : order;
  }

  #fillFromTrades(order: OrderDoc, bought: Bought): Promise<OrderDoc> {
    if (this.#sinceSentMs(order) < TRADES_COMPLETE_AFTER_MS) throw unknown(order);
    return this.#fill(order, bought);
  }

  /** Writes a fill. The fee is reckoned from the market's schedule: what the exchange tells of trades is without it. */
  #fill({ _id, fee }: OrderDoc, { contracts, paidMicros }: Bought): Promise<OrderDoc> {
    const feesMicros = Math.ceil(contracts * feeMicros(fee, paidMicros / MICROS / contracts));
    const { orders, now } = this.#options;
    return orders.fill(_id, { filledContracts: contracts, costMicros: paidMicros + feesMicros, filledAt: now() });
  }

  /** The order as it stands after it was to be ended; another process may have gone on with it. */
  #ended(order: OrderDoc): OrderDoc {
    if (!isFinal(order)) throw unknown(order);
    return order;
  }

  #sinceSentMs({ sentAt }: OrderDoc): number {
    return this.#options.now().getTime() - (sentAt?.getTime() ?? 0);
  }
}

function isFinal({ state }: OrderDoc): boolean {
  return state === 'FILLED' || state === 'REJECTED';
}

function unknown({ _id }: OrderDoc): OracleError {
  return new OracleError('FEED_UNAVAILABLE', `Polymarket: it is not known yet what order ${_id} bought`);
}
