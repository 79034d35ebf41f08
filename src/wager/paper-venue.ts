import { createHash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { OracleError } from '../errors.ts';
import { DAY_MS, type Day, formatDay, toDay, toInstantMs } from '../forecast/day.ts';
import { sigmoid } from '../forecast/fit.ts';
import { normalCdf } from '../forecast/math.ts';
import { ignoreDuplicate, insertOrFind } from '../platform/mongo.ts';
import { computeContractCosts, type Side } from './sizing.ts';
import {
  buildStrikesAround,
  type Fill,
  MICROS,
  type Quote,
  type StrikeMarket,
  type Venue,
  type VenueOrder,
  type WagerSettlement,
} from './venue.ts';

interface PaperOrderDoc extends Pick<VenueOrder, 'market' | 'side' | 'contracts' | 'at'> {
  _id: string;
  costMicros: number;
  settlement: WagerSettlement | null;
}

interface PaperVenueOptions {
  db: Db;
  openingBalanceMicros: number;
  reference(at: Date): Promise<QuoteReference>;
  /** The settled close of a day in USD; null while unknown. */
  close(day: Day, at: Date): Promise<number | null>;
}

export const PAPER_INDEXES = [{ collection: 'paper_orders', indexes: [{ key: { settlement: 1 } }] }];

/** A venue without real money: simulated quotes, fills at the quote, a ledger in the database, settlement by the daily close. */
export class PaperVenue implements Venue {
  readonly name = 'paper';
  readonly asset = 'PAPER-USD';
  readonly sameBook = ['paper'];
  readonly #orders: Collection<PaperOrderDoc>;
  /** The `_id` of an entry names its cause, so that it is booked once. */
  readonly #ledger: Collection<{ _id: string; amountMicros: number; at: Date }>;
  readonly #options: PaperVenueOptions;
  #isOpened = false;

  constructor(options: PaperVenueOptions) {
    this.#options = options;
    this.#orders = options.db.collection('paper_orders');
    this.#ledger = options.db.collection('paper_ledger');
  }

  async listMarkets(at: Date): Promise<StrikeMarket[]> {
    const { spotUsd } = await this.#options.reference(at);
    return buildPaperStrikes(spotUsd, at);
  }

  async getQuote(market: StrikeMarket, at: Date): Promise<Quote> {
    return buildPaperQuote(market, await this.#options.reference(at), at);
  }

  async placeOrder(order: VenueOrder): Promise<Fill> {
    return (await this.findFill(order.clientOrderId)) ?? this.#toBookedFill(await this.#fillOrder(order));
  }

  async findFill(clientOrderId: string): Promise<Fill | null> {
    const stored = await this.#orders.findOne({ _id: clientOrderId });
    return stored === null ? null : this.#toBookedFill(stored);
  }

  async #toBookedFill(stored: PaperOrderDoc): Promise<Fill> {
    // Repeats the booking after a crash between order and booking; the entry's key makes it idempotent.
    await this.#bookEntry(`${stored._id}:stake`, -stored.costMicros, stored.at);
    return { orderId: stored._id, contracts: stored.contracts, costMicros: stored.costMicros, at: stored.at };
  }

  async #fillOrder(order: VenueOrder): Promise<PaperOrderDoc> {
    const { yesCost, noCost } = computeContractCosts(await this.getQuote(order.market, order.at));
    const unitCost = Math.round((order.side === 'YES' ? yesCost : noCost) * MICROS);
    if (unitCost > order.limitCostMicros) {
      throw new OracleError('VENUE_REJECTED', `A contract costs ${unitCost} micros, above the limit of ${order.limitCostMicros}`);
    }
    const costMicros = unitCost * order.contracts;
    const { cashMicros } = await this.getAccount();
    if (costMicros > cashMicros)
      throw new OracleError('VENUE_REJECTED', `The order costs ${costMicros} micros, the account has ${cashMicros}`);
    const { clientOrderId: _id, market, side, contracts, at } = order;
    return insertOrFind(this.#orders, { _id, market, side, contracts, costMicros, at, settlement: null });
  }

  async findWinner(market: StrikeMarket, at: Date): Promise<Side | null> {
    if (at < market.expiresAt) return null;
    const close = await this.#options.close(toDay(market.expiresAt.getTime() - DAY_MS), at);
    if (close === null) return null;
    return close > market.strikeUsd ? 'YES' : 'NO';
  }

  async settleOrder(orderId: string, at: Date): Promise<WagerSettlement | null> {
    const order = await this.#orders.findOne({ _id: orderId });
    if (order === null) throw new OracleError('NOT_FOUND', `The paper venue has no order ${orderId}`);
    const settlement = order.settlement ?? (await this.#settleByClose(order, at));
    if (settlement === null) return null;
    await this.#bookEntry(`${orderId}:payout`, settlement.payoutMicros, settlement.at);
    return settlement;
  }

  async #settleByClose(order: PaperOrderDoc, at: Date): Promise<WagerSettlement | null> {
    const winner = await this.findWinner(order.market, at);
    if (winner === null) return null;
    const payoutMicros = winner === order.side ? order.contracts * MICROS : 0;
    const settle = { $set: { settlement: { winner, payoutMicros, at } } };
    const settled = await this.#orders.findOneAndUpdate({ _id: order._id, settlement: null }, settle, { returnDocument: 'after' });
    return (settled ?? (await this.#orders.findOne({ _id: order._id })))?.settlement ?? null;
  }

  async getAccount() {
    if (!this.#isOpened) await this.#bookEntry('opening', this.#options.openingBalanceMicros, new Date(0));
    this.#isOpened = true;
    const [[cash], [open]] = await Promise.all([
      this.#ledger.aggregate<{ sum: number }>([{ $group: { _id: null, sum: { $sum: '$amountMicros' } } }]).toArray(),
      this.#orders
        .aggregate<{ sum: number }>([{ $match: { settlement: null } }, { $group: { _id: null, sum: { $sum: '$costMicros' } } }])
        .toArray(),
    ]);
    return { asset: this.asset, cashMicros: Number(cash?.sum ?? 0), openMicros: Number(open?.sum ?? 0) };
  }

  async #bookEntry(_id: string, amountMicros: number, at: Date): Promise<void> {
    await this.#ledger.updateOne({ _id }, { $setOnInsert: { amountMicros, at } }, { upsert: true }).catch(ignoreDuplicate);
  }
}

const HALF_SPREAD = 0.01;
const FEE = 0.01;
/** Standard deviation of the crowd's error, in log odds. */
const CROWD_ERROR = 0.2;
const MIN_PRICE = 0.03;
const STRIKES_EACH_SIDE = 5;
/** Share of the price. */
const STRIKE_DISTANCE = 0.01;
const FRIDAY = 5;

export interface QuoteReference {
  spotUsd: number;
  dailyVolatility: number;
}

/** Strikes around the spot price, settled by the close of the next Friday that is more than one day away. */
export function buildPaperStrikes(spotUsd: number, at: Date): StrikeMarket[] {
  const earliest = toDay(at.getTime()) + 2;
  const expiry = earliest + ((FRIDAY - new Date(earliest * DAY_MS).getUTCDay() + 7) % 7);
  return buildStrikesAround(spotUsd, STRIKE_DISTANCE, STRIKES_EACH_SIDE)
    .filter((strikeUsd) => strikeUsd > 0)
    .map((strikeUsd) => ({
      id: `paper:${formatDay(expiry)}:${strikeUsd}`,
      question: `Will BTC/USD close above ${strikeUsd.toLocaleString('en-US')} on ${formatDay(expiry)} (UTC)?`,
      strikeUsd,
      expiresAt: new Date(toInstantMs(expiry + 1)),
    }));
}

/**
 * Quote of a simulated crowd: a driftless log-normal price with the recent volatility and an error that depends only on market and day.
 * It models no real market, so profits against it prove nothing.
 */
export function buildPaperQuote(market: StrikeMarket, reference: QuoteReference, at: Date): Quote {
  const days = (market.expiresAt.getTime() - at.getTime()) / DAY_MS;
  const z = Math.log(market.strikeUsd / reference.spotUsd) / (reference.dailyVolatility * Math.sqrt(days));
  const fair = 1 - normalCdf(z);
  const error = CROWD_ERROR * hashToStandardNormal(`${market.id}@${formatDay(toDay(at.getTime()))}`);
  const price = roundToCent(sigmoid(Math.log(fair / (1 - fair)) + error));
  const mid = Math.min(Math.max(price, MIN_PRICE), 1 - MIN_PRICE);
  return { bid: roundToCent(mid - HALF_SPREAD), ask: roundToCent(mid + HALF_SPREAD), fee: FEE, at };
}

function roundToCent(price: number): number {
  return Math.round(price * 100) / 100;
}

/** A deterministic standard normal number (Box-Muller over a hash of the text). */
function hashToStandardNormal(text: string): number {
  const bytes = createHash('sha256').update(text).digest();
  const u = (bytes.readUInt32BE(0) + 1) / 2 ** 32;
  const v = bytes.readUInt32BE(4) / 2 ** 32;
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
}
