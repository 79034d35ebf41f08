import { OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import { MICROS, type VenueOrder } from '../../venue.ts';
import type { FilledAmount, TradingClient } from '../api/trading-client.ts';
import { computeFeeMicros } from '../fee.ts';
import type { OrderPlan } from '../order-plan.ts';
import { buildOrderDoc, type OrderExecutor } from './order-executor.ts';
import type { PolymarketOrderDoc, PolymarketOrderStore } from './order-store.ts';

interface ExchangeExecutorOptions {
  orders: PolymarketOrderStore;
  trading: TradingClient;
  now(): Date;
  log: Log;
}

export const EXCHANGE_VENUE = 'polymarket';
/** The exchange lists trades one by one; until this long after sending, the list may be incomplete. */
const TRADES_COMPLETE_AFTER_MS = 10_000;
/** Without a trade this long after sending, an order bought nothing, as it never rests on the book. */
const NOTHING_BOUGHT_AFTER_MS = 120_000;

/**
 * Sends orders exactly once in effect. Orders are signed and stored before sending; after a crash the stored order is looked up and, if
 * unknown to the exchange, sent again unchanged: the exchange fills one order per hash.
 */
export class ExchangeExecutor implements OrderExecutor {
  readonly name = EXCHANGE_VENUE;
  readonly asset = 'pUSD';
  readonly #options: ExchangeExecutorOptions;

  constructor(options: ExchangeExecutorOptions) {
    this.#options = options;
  }

  getCashMicros(): Promise<number> {
    return this.#options.trading.fetchBalanceMicros();
  }

  async prepareOrder(order: VenueOrder, plan: OrderPlan): Promise<PolymarketOrderDoc> {
    const signed = await this.#options.trading.signOrder(plan);
    return { ...buildOrderDoc(EXCHANGE_VENUE, order, plan, this.#options.now()), ...signed };
  }

  async execute(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc> {
    const { orders, trading, now, log } = this.#options;
    const checked = await this.#refreshFromExchange(order);
    if (checked.state !== 'SIGNED') return this.resolveOrder(checked);
    const sending = await orders.beginSending(order._id, now());
    if (sending === null) return this.resolveOrder(await orders.get(order._id));
    const outcome = await trading.postOrder(sending);
    log.info({ order: order._id, orderHash: order.orderHash, outcome: outcome.kind }, 'order sent to Polymarket');
    if (outcome.kind === 'MATCHED') return this.#recordFill(sending, outcome);
    // A rejection of a second attempt does not imply that the first failed; only the trades show that.
    if (outcome.kind === 'REJECTED' && sending.attempts === 1) {
      const ended = await orders.reject(sending, outcome.reason);
      if (ended.state !== 'SIGNED') return this.resolveOrder(ended);
    }
    return this.resolveOrder(await orders.acknowledge(order._id));
  }

  async resolveOrder(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc> {
    const { orders, trading } = this.#options;
    if (isFinalOrder(order)) return order;
    if (order.sentAt === null) return this.#requireFinal(await orders.reject(order, 'the order was never sent'));
    const found = await trading.lookUpOrder(order);
    if (found.contracts > 0) return this.#fillFromTrades(order, found);
    if (found.open || this.#sinceSentMs(order) < NOTHING_BOUGHT_AFTER_MS) throw outcomeUnknownError(order);
    return this.#requireFinal(await orders.reject(order, 'no seller at the limit'));
  }

  /** Updates an order that may have been sent; still SIGNED when the exchange does not know it. */
  async #refreshFromExchange(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc> {
    if (order.state !== 'SIGNED' || order.sentAt === null) return order;
    const found = await this.#options.trading.lookUpOrder(order);
    if (found.contracts > 0) return this.#fillFromTrades(order, found);
    return found.known ? this.#options.orders.acknowledge(order._id) : order;
  }

  #fillFromTrades(order: PolymarketOrderDoc, filled: FilledAmount): Promise<PolymarketOrderDoc> {
    if (this.#sinceSentMs(order) < TRADES_COMPLETE_AFTER_MS) throw outcomeUnknownError(order);
    return this.#recordFill(order, filled);
  }

  /** Records a fill with the fee of the market's schedule, as trades exclude it. */
  #recordFill({ _id, fee }: PolymarketOrderDoc, { contracts, paidMicros }: FilledAmount): Promise<PolymarketOrderDoc> {
    const feesMicros = Math.ceil(contracts * computeFeeMicros(fee, paidMicros / MICROS / contracts));
    const { orders, now } = this.#options;
    return orders.fill(_id, { filledContracts: contracts, costMicros: paidMicros + feesMicros, filledAt: now() });
  }

  /** Throws when another process continued with the order. */
  #requireFinal(order: PolymarketOrderDoc): PolymarketOrderDoc {
    if (!isFinalOrder(order)) throw outcomeUnknownError(order);
    return order;
  }

  #sinceSentMs({ sentAt }: PolymarketOrderDoc): number {
    return this.#options.now().getTime() - (sentAt?.getTime() ?? 0);
  }
}

function isFinalOrder({ state }: PolymarketOrderDoc): boolean {
  return state === 'FILLED' || state === 'REJECTED';
}

function outcomeUnknownError({ _id }: PolymarketOrderDoc): OracleError {
  return new OracleError('FEED_UNAVAILABLE', `Polymarket: the result of order ${_id} is not known yet`);
}
