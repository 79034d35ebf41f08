import type { Collection, Db, Filter } from 'mongodb';
import { OracleError } from '../errors.ts';
import { DAY_MS } from '../forecast/day.ts';
import type { Log } from '../platform/log.ts';
import { isFirstWrite } from '../platform/mongo.ts';
import {
  computeFeeMicros,
  countContractsPerWholeCents,
  type FeeSchedule,
  type FilledAmount,
  findHighestPrice,
  MarketDataClient,
  type OrderBook,
  type OrderPlan,
  type PolymarketOrderDoc,
  PRICE_UNITS,
  planOrder,
  type TradingAccount,
  TradingClient,
  venueRejectedError,
} from './polymarket-exchange.ts';
import { computeContractCosts, type Side } from './sizing.ts';
import {
  type Fill,
  type MarketOutcome,
  MICROS,
  type Quote,
  type StrikeMarket,
  type Venue,
  type VenueOrder,
  type WagerSettlement,
} from './venue.ts';

/** With a wider spread the midpoint is no estimate of the crowd's probability. */
const MAX_SPREAD = 0.1;

const MAX_KEPT_LEVELS = 5;

/** A listed strike; its tokens come from the exchange. */
export interface PolymarketStrike extends Omit<StrikeMarket, 'id'> {
  conditionId: string;
}

export interface PolymarketVenueOptions {
  db: Db;
  host: string;
  /** Null for a dry run, which sends no order and needs no key. */
  account: TradingAccount | null;
  dryRunBalanceMicros: number;
  /** Maximum stake of one wager and maximum sum of open stakes, in whole dollars. */
  maxStakeUsd: number;
  maxOpenUsd: number;
  /** Sends no new orders; sent ones are still looked up and settled. */
  killSwitch: boolean;
  /** Whether the operator has paused new orders; read before each execution. Default: never. */
  isPaused?(): Promise<boolean>;
  strikes(at: Date): Promise<PolymarketStrike[]>;
  now(): Date;
  log: Log;
  /** Per request; default 45 s, above the 30 s that the client may take to post an order. */
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 45_000;

/** Disputes of a resolution take days, in which a closed market may have no winner and the price of its last trade. */
const MAX_DISPUTE_MS = 7 * DAY_MS;

/** The orders of one venue: one document each, changed by compare-and-set only. */
class PolymarketOrderStore {
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

/**
 * Polymarket, with money or as a dry run. A contract is one outcome token; YES and NO are bought from their own books, never sold.
 * Settlement only records the payout: the wallet's owner redeems it on chain.
 */
export class PolymarketVenue implements Venue {
  readonly name: string;
  readonly asset: string;
  readonly sameBook = [EXCHANGE_VENUE, DRY_RUN_VENUE];
  readonly #options: PolymarketVenueOptions;
  readonly #marketData: MarketDataClient;
  readonly #orders: PolymarketOrderStore;
  readonly #executor: OrderExecutor;

  constructor(options: PolymarketVenueOptions) {
    const { db, host, account, dryRunBalanceMicros, now, log, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    this.#options = options;
    this.#marketData = new MarketDataClient({ host, timeoutMs });
    const orders = new PolymarketOrderStore(db, account === null ? DRY_RUN_VENUE : EXCHANGE_VENUE);
    this.#orders = orders;
    this.#executor =
      account === null
        ? createDryRunExecutor(orders, dryRunBalanceMicros, now)
        : new ExchangeExecutor({ orders, trading: new TradingClient({ host, timeoutMs, account }), now, log });
    this.name = this.#executor.name;
    this.asset = this.#executor.asset;
  }

  async listMarkets(at: Date): Promise<StrikeMarket[]> {
    const strikes = await this.#options.strikes(at);
    return strikes.filter(({ expiresAt }) => expiresAt > at).map(({ conditionId: id, ...strike }) => ({ id, ...strike }));
  }

  async getQuote(market: StrikeMarket, at: Date): Promise<Quote> {
    const { tokens, fee } = await this.#marketData.fetchTradingTerms(market.id);
    return buildQuote(await this.#marketData.fetchOrderBook(tokens.YES), fee, at);
  }

  /** @throws OracleError VENUE_REJECTED when the order buys nothing, FEED_UNAVAILABLE while that is unknown; retrying is idempotent */
  async placeOrder(order: VenueOrder): Promise<Fill> {
    const known = await this.#orders.find(order.clientOrderId);
    if (await this.#isStopped()) {
      if (known === null) throw venueRejectedError('the kill switch is on, or new wagers are paused');
      return toFill(await this.#executor.resolveOrder(known));
    }
    const written = known ?? (await this.#orders.insert(await this.#prepareOrder(order)));
    // Preparing the order took seconds, in which the operator may have paused.
    if (await this.#isStopped()) return toFill(await this.#executor.resolveOrder(written));
    return toFill(await this.#executor.execute(written));
  }

  async #isStopped(): Promise<boolean> {
    const { killSwitch, isPaused } = this.#options;
    return killSwitch || ((await isPaused?.()) ?? false);
  }

  async findFill(clientOrderId: string): Promise<Fill | null> {
    const order = await this.#orders.find(clientOrderId);
    return order === null ? null : toFill(await this.#executor.resolveOrder(order));
  }

  async findWinner(market: StrikeMarket, at: Date): Promise<MarketOutcome | null> {
    const yesShare = await this.#findPaidShare(market, at);
    return yesShare === null ? null : (toWinner(yesShare) ?? 'VOID');
  }

  async #findPaidShare({ id, expiresAt }: StrikeMarket, at: Date): Promise<number | null> {
    if (at < expiresAt) return null;
    return this.#marketData.fetchPaidShare(id, { isDisputeOver: at.getTime() >= expiresAt.getTime() + MAX_DISPUTE_MS });
  }

  async settleOrder(orderId: string, at: Date): Promise<WagerSettlement | null> {
    const order = await this.#orders.get(orderId);
    if (order.settlement !== null) return order.settlement;
    const yesShare = await this.#findPaidShare(order.market, at);
    if (yesShare === null) return null;
    const payoutMicros = Math.round(order.filledContracts * MICROS * (order.side === 'YES' ? yesShare : 1 - yesShare));
    return this.#orders.settle(orderId, { winner: toWinner(yesShare), payoutMicros, at });
  }

  async getAccount() {
    const [cashMicros, openMicros] = await Promise.all([this.#executor.getCashMicros(), this.#orders.sumOpenMicros()]);
    return { asset: this.asset, cashMicros, openMicros };
  }

  async #prepareOrder(order: VenueOrder): Promise<PolymarketOrderDoc> {
    const terms = await this.#marketData.fetchTradingTerms(order.market.id);
    const [book, { cashMicros, openMicros }] = await Promise.all([
      this.#marketData.fetchOrderBook(terms.tokens[order.side]),
      this.getAccount(),
    ]);
    const { maxStakeUsd, maxOpenUsd } = this.#options;
    const limits = { maxStakeMicros: maxStakeUsd * MICROS, maxOpenMicros: maxOpenUsd * MICROS, openMicros, cashMicros };
    return this.#executor.prepareOrder(order, planOrder(order, terms, book, limits), book);
  }
}

/** The fill of an order. @throws OracleError VENUE_REJECTED when it bought nothing */
function toFill(order: PolymarketOrderDoc): Fill {
  if (order.state === 'FILLED') {
    return { orderId: order._id, contracts: order.filledContracts, costMicros: order.costMicros, at: order.filledAt as Date };
  }
  throw new OracleError('VENUE_REJECTED', `Polymarket: ${order.rejectedBecause}`);
}

/** Null where both sides are paid. */
function toWinner(yesShare: number): Side | null {
  if (yesShare === 1) return 'YES';
  return yesShare === 0 ? 'NO' : null;
}

/**
 * Best prices of a YES contract with the levels next to them, the higher fee of YES at the ask and NO at the bid, and the smallest orders.
 * @throws OracleError VENUE_REJECTED for a one-sided, crossed or too wide book
 */
export function buildQuote(orderBook: OrderBook, fee: FeeSchedule, at: Date): Quote {
  const { bids, asks, tickSize, minOrderSize } = orderBook;
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  if (bid === undefined || ask === undefined) throw venueRejectedError(`the book has no ${bid === undefined ? 'bids' : 'asks'}`);
  if (ask <= bid) throw venueRejectedError(`the book is crossed: bid ${bid}, ask ${ask}`);
  if (ask - bid > MAX_SPREAD + 1e-9) throw venueRejectedError(`the book is too wide: bid ${bid}, ask ${ask}`);
  const book = { bids: bids.slice(0, MAX_KEPT_LEVELS), asks: asks.slice(0, MAX_KEPT_LEVELS) };
  const prices = { bid, ask, fee: Math.max(computeFeeMicros(fee, bid), computeFeeMicros(fee, ask)) / MICROS };
  const { yesCost, noCost } = computeContractCosts(prices);
  const toSizes = (cost: number) => {
    // The price that `planOrder` finds for a limit of this cost.
    const priceUnits = findHighestPrice(Math.round(cost * MICROS), tickSize, fee);
    return { min: minOrderSize, step: priceUnits === null ? 1 : countContractsPerWholeCents(priceUnits) };
  };
  return { ...prices, at, book, orderSizes: { YES: toSizes(yesCost), NO: toSizes(noCost) } };
}

export const DRY_RUN_VENUE = 'polymarket-dry-run';

/** Fills orders from the current book without sending them: real prices, simulated money. */
function createDryRunExecutor(orders: PolymarketOrderStore, openingBalanceMicros: number, now: () => Date): OrderExecutor {
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

/** Executes planned orders, at the exchange or as a dry run. */
interface OrderExecutor {
  readonly name: string;
  readonly asset: string;
  getCashMicros(): Promise<number>;
  prepareOrder(order: VenueOrder, plan: OrderPlan, book: OrderBook): Promise<PolymarketOrderDoc>;
  /** Executes a stored order; returns it FILLED or REJECTED. @throws OracleError FEED_UNAVAILABLE while that is unknown */
  execute(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc>;
  /** Determines the result of a stored order without sending it. @throws OracleError FEED_UNAVAILABLE while that is unknown */
  resolveOrder(order: PolymarketOrderDoc): Promise<PolymarketOrderDoc>;
}

function buildOrderDoc(venue: string, order: VenueOrder, plan: OrderPlan, createdAt: Date): PolymarketOrderDoc {
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

interface ExchangeExecutorOptions extends Pick<PolymarketVenueOptions, 'now' | 'log'> {
  orders: PolymarketOrderStore;
  trading: TradingClient;
}

export const EXCHANGE_VENUE = 'polymarket';

/** Whether an order was ever signed for the exchange itself, whatever the settings say now. */
export async function hasExchangeOrders(db: Db): Promise<boolean> {
  return (await db.collection<PolymarketOrderDoc>('polymarket_orders').findOne({ venue: EXCHANGE_VENUE })) !== null;
}
/** The exchange lists trades one by one; until this long after sending, the list may be incomplete. */
const TRADES_COMPLETE_AFTER_MS = 10_000;
/** Without a trade this long after sending, an order bought nothing, as it never rests on the book. */
const NOTHING_BOUGHT_AFTER_MS = 120_000;

/**
 * Sends orders exactly once in effect. Orders are signed and stored before sending; after a crash the stored order is looked up and, if
 * unknown to the exchange, sent again unchanged: the exchange fills one order per hash.
 */
class ExchangeExecutor implements OrderExecutor {
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
