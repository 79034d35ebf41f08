import type { ClobClient, orderToJsonV2 } from '@polymarket/clob-client-v2';
import { type Address, type Hex, hashTypedData } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import { type ErrorCode, getErrorMessage, isOracleError, OracleError } from '../errors.ts';
import { createOfflineSigner } from '../platform/outbound/evm.ts';
import { withTimeout } from '../platform/time.ts';
import type { Side } from './sizing.ts';
import { type BookDepth, MICROS, type VenueOrder, type WagerSettlement } from './venue.ts';

const POLYGON_CHAIN_ID = 137;

interface ClobOptions {
  host: string;
  /** Per request. Posting an order takes up to 30 s, as the client waits for the transactions of the trades. */
  timeoutMs: number;
}

type MarketTradingTerms = { tokens: Record<Side, string>; fee: FeeSchedule };

/** Order book of one token, best prices first. */
export interface OrderBook extends BookDepth {
  tickSize: TickSize;
  /** Contracts. */
  minOrderSize: number;
  negRisk: boolean;
}

/** Public data of the exchange. Methods throw FEED_UNAVAILABLE, FEED_INVALID, or VENUE_REJECTED for unknown ids. */
export class MarketDataClient {
  readonly #options: ClobOptions;
  #client: ClobClient | undefined;

  constructor(options: ClobOptions) {
    this.#options = options;
  }

  async fetchTradingTerms(conditionId: string): Promise<MarketTradingTerms> {
    const { t: tokens, fd: fee } = await this.#fetch('market info', marketInfoResponse, (client) => client.getClobMarketInfo(conditionId));
    const tokenOf = (side: Side) => tokens.find(({ o: outcome }) => outcome.toUpperCase() === side)?.t;
    const [YES, NO] = [tokenOf('YES'), tokenOf('NO')];
    if (YES === undefined || NO === undefined || tokens.length !== 2) {
      throw invalidResponseError('market info.t', 'is not one token for Yes and one for No');
    }
    return { tokens: { YES, NO }, fee: { rate: fee?.r ?? 0, exponent: fee?.e ?? 0 } };
  }

  async fetchOrderBook(tokenId: string): Promise<OrderBook> {
    const book = await this.#fetch('book', bookResponse, (client) => client.getOrderBook(tokenId));
    if (book.asset_id !== tokenId) throw invalidResponseError('book.asset_id', 'is of another token');
    return {
      bids: book.bids.toSorted((a, b) => b.price - a.price),
      asks: book.asks.toSorted((a, b) => a.price - b.price),
      tickSize: book.tick_size,
      minOrderSize: book.min_order_size,
      negRisk: book.neg_risk,
    };
  }

  /** What a YES token pays, 0 to 1, of which a NO token pays the rest; null while that is not known. */
  async fetchPaidShare(conditionId: string, { isDisputeOver }: { isDisputeOver: boolean }): Promise<number | null> {
    const market = await this.#fetch('market', marketResponse, (client) => client.getMarket(conditionId));
    if (!market.closed) return null;
    const winners = market.tokens.filter(({ winner }) => winner).map(({ outcome }) => outcome.toUpperCase());
    if (winners.length === 1) {
      const [winner] = winners;
      if (winner !== 'YES' && winner !== 'NO') throw invalidResponseError('market.tokens', 'the winner is neither Yes nor No');
      return winner === 'YES' ? 1 : 0;
    }
    if (market.is_50_50_outcome === true) return 0.5;
    return isDisputeOver ? readFinalPrice(market) : null;
  }

  async #fetch<T>(what: string, schema: z.ZodType<T>, run: (client: ClobClient) => Promise<unknown>): Promise<T> {
    const { host, timeoutMs } = this.#options;
    const { ClobClient } = await loadClobClient(this.#options);
    this.#client ??= new ClobClient({ host, chain: POLYGON_CHAIN_ID, throwOnError: true });
    const client = this.#client;
    return requestExchange({ what, timeoutMs, rejectionCode: 'VENUE_REJECTED', schema }, () => run(client));
  }
}

/** Of YES, once the exchange has set the prices to what the tokens pay: those of both add up. */
function readFinalPrice({ tokens }: z.infer<typeof marketResponse>): number | null {
  const priceOf = (side: Side) => tokens.find(({ outcome }) => outcome.toUpperCase() === side)?.price ?? Number.NaN;
  const [yes, no] = [priceOf('YES'), priceOf('NO')];
  return yes >= 0 && no >= 0 && Math.abs(yes + no - 1) < 1e-6 ? yes : null;
}

/** Loads the exchange's client, limited to its origin; on demand, because it is large. */
async function loadClobClient({ host, timeoutMs }: ClobOptions) {
  const { allowAxiosOrigin } = await import('../platform/outbound/sdks.ts');
  await allowAxiosOrigin(host, timeoutMs);
  return import('@polymarket/clob-client-v2');
}

/** Taker fee: `rate * (p (1 - p)) ^ exponent` dollars a contract at the price p. */
export interface FeeSchedule {
  rate: number;
  exponent: number;
}

/** Fee of one contract at a price (0 to 1), in micros, rounded up. Equal for both sides of a market. */
export function computeFeeMicros({ rate, exponent }: FeeSchedule, price: number): number {
  // Subtracts a tolerance so that floating-point error of a whole number is not rounded up.
  return Math.max(0, Math.ceil(rate * (price * (1 - price)) ** exponent * MICROS - 1e-9));
}

/** Price steps of the exchange, whole multiples of 1/10,000. */
export const TICK_SIZES = ['0.1', '0.01', '0.005', '0.0025', '0.001', '0.0001'] as const;
type TickSize = (typeof TICK_SIZES)[number];
/** Price units per dollar: every step is a whole number of 1/10,000. */
export const PRICE_UNITS = 10_000;
const MICROS_PER_UNIT = MICROS / PRICE_UNITS;
/** The exchange rejects immediate orders whose price times size is not in whole cents. */
const UNITS_PER_CENT = 100;

/** Cost of a contract in micros, fee included. */
export function computeUnitCostMicros(priceUnits: number, fee: FeeSchedule): number {
  return priceUnits * MICROS_PER_UNIT + computeFeeMicros(fee, priceUnits / PRICE_UNITS);
}

/** Highest price on the tick within the cost limit, fee included, in price units; null when the lowest price exceeds it. */
export function findHighestPrice(limitCostMicros: number, tickSize: TickSize, fee: FeeSchedule): number | null {
  const tick = Math.round(Number(tickSize) * PRICE_UNITS);
  const highest = Math.min(Math.floor(limitCostMicros / MICROS_PER_UNIT), PRICE_UNITS - tick);
  for (let price = Math.floor(highest / tick) * tick; price >= tick; price -= tick) {
    if (computeUnitCostMicros(price, fee) <= limitCostMicros) return price;
  }
  return null;
}

/** Maximum number of contracts, up to `contracts`, that cost whole cents at a price. */
export function roundToWholeCentContracts(contracts: number, priceUnits: number): number {
  const step = countContractsPerWholeCents(priceUnits);
  return Math.max(0, Math.floor(contracts / step) * step);
}

/** The smallest number of contracts that costs whole cents at a price. */
export function countContractsPerWholeCents(priceUnits: number): number {
  return UNITS_PER_CENT / greatestCommonDivisor(priceUnits, UNITS_PER_CENT);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

const MAX_MESSAGE_CHARS = 200;
/** Timeout, "too early" while the matching engine restarts, too many requests: retryable. */
const TRANSIENT_STATUSES = [408, 425, 429];

/** The client's error class, recognised by name because the client is loaded on demand. */
interface ClobApiError extends Error {
  status?: number;
}

interface ExchangeRequest<T> {
  what: string;
  timeoutMs: number;
  /** Code of an error for status 400 to 499. */
  rejectionCode: ErrorCode;
  schema: z.ZodType<T>;
}

/**
 * Runs one request to the exchange.
 * @throws OracleError `rejectionCode` when the exchange rejects it, FEED_UNAVAILABLE without a timely response, FEED_INVALID for a
 * response that the client or the schema cannot parse
 */
async function requestExchange<T>(request: ExchangeRequest<T>, run: () => Promise<unknown>): Promise<T> {
  const { what, timeoutMs, rejectionCode, schema } = request;
  const createError = () => new OracleError('FEED_UNAVAILABLE', `Polymarket: ${what}: no response within ${timeoutMs} ms`);
  const answer = await withTimeout(timeoutMs, Promise.resolve().then(run), createError).catch((error: unknown) => {
    if (error instanceof OracleError) throw error;
    const fail = (code: ErrorCode, reason: string) => new OracleError(code, `Polymarket: ${what}: ${reason}`, { cause: error });
    if (!isClobApiError(error)) throw fail('FEED_INVALID', 'the client cannot parse the response');
    if (!isExchangeRejection(error)) throw fail('FEED_UNAVAILABLE', 'no response');
    // The exchange's reason is stored with the wager.
    throw fail(rejectionCode, getErrorMessage(error).slice(0, MAX_MESSAGE_CHARS));
  });
  return parseResponse(what, schema, answer);
}

/** Whether the exchange answered with a non-retryable status of 400 to 499. */
function isExchangeRejection(error: unknown): error is ClobApiError {
  const { status = 0 } = error as ClobApiError;
  return isClobApiError(error) && status >= 400 && status < 500 && !TRANSIENT_STATUSES.includes(status);
}

function isClobApiError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ApiError';
}

const decimal = z.union([z.string().trim().min(1).transform(Number), z.number()]).pipe(z.number().nonnegative());
const level = z.object({ price: decimal.pipe(z.number().lte(1)), size: decimal });

export const bookResponse = z.object({
  asset_id: z.string(),
  bids: z.array(level),
  asks: z.array(level),
  min_order_size: decimal,
  tick_size: z.string().pipe(z.enum(TICK_SIZES)),
  neg_risk: z.boolean(),
});

/** `t`: tokens with their outcomes; `fd`: fee with its rate and exponent. */
export const marketInfoResponse = z.object({
  t: z.array(z.object({ t: z.string().min(1), o: z.string() })),
  fd: z.object({ r: z.number().nonnegative().optional(), e: z.number().nonnegative().optional() }).nullish(),
});

const marketResponse = z.object({
  closed: z.boolean(),
  is_50_50_outcome: z.boolean().nullish(),
  tokens: z.array(z.object({ outcome: z.string(), winner: z.boolean(), price: z.number().nullish() })),
});

const versionResponse = z.union([z.literal(2), z.literal(3)]);
const credentialsResponse = z.object({ key: z.string().min(1), secret: z.string().min(1), passphrase: z.string().min(1) });
export const balanceResponse = z.object({ balance: z.string().regex(/^\d+$/, 'must be whole micros') });

const postOrderResponse = z.object({
  success: z.boolean(),
  errorMsg: z.string().nullish(),
  orderID: z.string().nullish(),
  status: z.string().nullish(),
  makingAmount: z.string().nullish(),
  takingAmount: z.string().nullish(),
});

/** Empty for a finished order. */
const orderResponse = z.union([z.object({ status: z.string(), size_matched: decimal }), z.literal('').transform(() => null), z.null()]);
const trade = z.object({ taker_order_id: z.string(), size: decimal, price: decimal, status: z.string() });
const tradesResponse = z.object({ trades: z.array(trade), next_cursor: z.string().min(1) });

/** @throws OracleError FEED_INVALID with the path of the invalid field */
export function parseResponse<T>(what: string, schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = [what, ...issue.path].join('.');
  throw invalidResponseError(field, issue.message);
}

function invalidResponseError(field: string, problem: string): OracleError {
  return new OracleError('FEED_INVALID', `Polymarket: ${field}: ${problem}`, { field });
}

export interface TradingAccount {
  privateKey: Hex;
  /** 0 EOA, 1 POLY_PROXY, 2 POLY_GNOSIS_SAFE, 3 POLY_1271. */
  signatureType: number;
  /** Paying wallet; the key's own address if absent. */
  funder?: string;
}

/** Contracts bought, and their price without the fee in micros. */
export type FilledAmount = { contracts: number; paidMicros: number };

/** REJECTED: with a reason. TAKEN: the exchange has or may have the order; its fills must be looked up. */
type PostOutcome = ({ kind: 'MATCHED' } & FilledAmount) | { kind: 'TAKEN' } | { kind: 'REJECTED'; reason: string };
type Trade = z.output<typeof tradesResponse>['trades'][number];
const FAILED_STATUS = 'FAILED';
const OPEN_STATUS = /live|delayed/i;
const LAST_PAGE = 'LTE=';
const MAX_PAGES = 50;
/** A duplicate was accepted before; after a delay or an internal error of the exchange the order may have been. */
const UNDECIDED_REASON = /duplicated|delay|could not/i;

/** One account at the exchange. The client authenticates requests with credentials derived from the key on first use. */
export class TradingClient {
  readonly #options: ClobOptions & { account: TradingAccount };
  #client: Promise<ClobClient> | undefined;

  constructor(options: ClobOptions & { account: TradingAccount }) {
    this.#options = options;
  }

  async fetchBalanceMicros(): Promise<number> {
    const { AssetType } = await import('@polymarket/clob-client-v2');
    const params = { asset_type: AssetType.COLLATERAL };
    return Number((await this.#fetch('balance', balanceResponse, (client) => client.getBalanceAllowance(params))).balance);
  }

  async signOrder({ tokenId, priceUnits, contracts, tickSize, negRisk }: OrderPlan): Promise<{ signed: SignedOrder; orderHash: Hex }> {
    const { Side, getContractConfig } = await import('@polymarket/clob-client-v2');
    const version = await this.#fetch('version', versionResponse, (client) => client.getVersion());
    const { orderBuilder } = await this.#getClient();
    const wanted = { tokenID: tokenId, price: priceUnits / PRICE_UNITS, size: contracts, side: Side.BUY };
    const signed = (await orderBuilder.buildOrder(wanted, { tickSize, negRisk }, version)) as SignedOrder;
    const makerAmount = String((contracts * priceUnits * MICROS) / PRICE_UNITS);
    if (signed.makerAmount !== makerAmount || signed.takerAmount !== String(contracts * MICROS)) {
      const actual = `${signed.makerAmount} for ${signed.takerAmount}`;
      throw new OracleError('INTERNAL', `Polymarket: the client signed ${actual}, not ${makerAmount}`);
    }
    const { exchangeV2, negRiskExchangeV2, exchangeV3 } = getContractConfig(POLYGON_CHAIN_ID);
    const address = version === 3 ? exchangeV3 : negRisk ? negRiskExchangeV2 : exchangeV2;
    return { signed, orderHash: computeOrderHash(signed, version, address) };
  }

  /** Sends a signed fill-and-kill order; idempotent by its hash. @throws OracleError FEED_UNAVAILABLE when it may have arrived */
  async postOrder(order: PolymarketOrderDoc): Promise<PostOutcome> {
    const { OrderType } = await import('@polymarket/clob-client-v2');
    const signed = order.signed as SignedOrder;
    await this.#getClient();
    try {
      const post = (client: ClobClient) => client.postOrder(signed, OrderType.FAK);
      return toPostOutcome(await this.#fetch('order', postOrderResponse, post, 'VENUE_REJECTED'), signed);
    } catch (error) {
      if (isOracleError(error, 'FEED_INVALID')) return { kind: 'TAKEN' };
      if (isOracleError(error, 'VENUE_REJECTED')) return toRejectionOutcome(error.message.replace('Polymarket: order: ', ''));
      throw error;
    }
  }

  /**
   * Looks up an order that may have been sent: by its record while open, by its trades afterwards. An open order may still be filled.
   * @throws OracleError FEED_UNAVAILABLE while trades of the record are missing
   */
  async lookUpOrder({ orderHash: hash, market, tokenId }: PolymarketOrderDoc) {
    const record = await this.#fetch('order record', orderResponse, (client) => fetchOrderRecord(client, hash as string));
    const trades = (await this.#listTrades(market.id, tokenId)).filter(
      (trade) => trade.taker_order_id === hash && trade.status !== FAILED_STATUS,
    );
    const contracts = trades.reduce((sum, { size }) => sum + size, 0);
    const paidMicros = Math.ceil(trades.reduce((sum, { size, price }) => sum + size * price, 0) * MICROS - 1e-3);
    if (record !== null && record.size_matched > contracts + 1 / MICROS) {
      throw new OracleError('FEED_UNAVAILABLE', 'Polymarket: trades: trades of the order are missing');
    }
    const open = record !== null && OPEN_STATUS.test(record.status);
    return { known: record !== null || trades.length > 0, open, contracts, paidMicros };
  }

  async #listTrades(market: string, asset: string): Promise<Trade[]> {
    const all: Trade[] = [];
    let cursor: string | undefined;
    for (let pages = 0; cursor !== LAST_PAGE; pages++) {
      if (pages === MAX_PAGES) throw new OracleError('FEED_INVALID', 'Polymarket: trades.next_cursor: never ends');
      const params = { market, asset_id: asset };
      const page = await this.#fetch('trades', tradesResponse, (client) => client.getTradesPaginated(params, cursor));
      all.push(...page.trades);
      cursor = page.next_cursor;
    }
    return all;
  }

  async #fetch<T>(
    what: string,
    schema: z.ZodType<T>,
    run: (client: ClobClient) => Promise<unknown>,
    rejectionCode: ErrorCode = 'FEED_UNAVAILABLE',
  ): Promise<T> {
    const client = await this.#getClient();
    return requestExchange({ what, timeoutMs: this.#options.timeoutMs, rejectionCode, schema }, () => run(client));
  }

  async #getClient(): Promise<ClobClient> {
    this.#client ??= this.#connect();
    try {
      return await this.#client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }

  async #connect(): Promise<ClobClient> {
    const { ClobClient } = await loadClobClient(this.#options);
    const { host, timeoutMs, account } = this.#options;
    const { privateKey, signatureType, funder } = account;
    const signer = createOfflineSigner(privateKeyToAccount(privateKey));
    const options = { host, chain: POLYGON_CHAIN_ID, signer, signatureType, funderAddress: funder, throwOnError: true };
    const request = { what: 'credentials', timeoutMs, rejectionCode: 'FEED_UNAVAILABLE', schema: credentialsResponse } as const;
    const creds = await requestExchange(request, () => {
      const client = new ClobClient(options);
      return client.deriveApiKey().catch((error: unknown) => {
        if (isExchangeRejection(error)) return client.createApiKey();
        throw error;
      });
    });
    return new ClobClient({ ...options, creds });
  }
}

function fetchOrderRecord(client: ClobClient, hash: string): Promise<unknown> {
  return client.getOrder(hash).catch((error: unknown) => {
    if (isExchangeRejection(error) && error.status === 404) return null;
    throw error;
  });
}

function toPostOutcome(answer: z.output<typeof postOrderResponse>, signed: SignedOrder): PostOutcome {
  if (answer.errorMsg) return toRejectionOutcome(answer.errorMsg);
  if (!answer.success) return { kind: 'REJECTED', reason: `the order was rejected (${answer.status})` };
  const contracts = Number(answer.takingAmount);
  const paidMicros = Math.round(Number(answer.makingAmount) * MICROS);
  // Amounts outside the order or in another unit are ignored; the trades are looked up.
  const isPlausible = contracts > 0 && paidMicros > 0 && paidMicros <= Number(signed.makerAmount);
  return answer.status === 'matched' && isPlausible ? { kind: 'MATCHED', contracts, paidMicros } : { kind: 'TAKEN' };
}

function toRejectionOutcome(reason: string): PostOutcome {
  return UNDECIDED_REASON.test(reason) ? { kind: 'TAKEN' } : { kind: 'REJECTED', reason };
}

type SignedOrder = Parameters<typeof orderToJsonV2>[0];
type OrderedTerms = Pick<VenueOrder, 'market' | 'side'> & Pick<OrderPlan, 'tokenId' | 'contracts' | 'maxCostMicros' | 'fee'>;

/** An order at Polymarket, or in a dry run. Amounts in micros. */
export interface PolymarketOrderDoc extends OrderedTerms {
  _id: string;
  venue: string;
  /** The signed order and its hash, its id at the exchange; null in a dry run. */
  signed: SignedOrder | null;
  orderHash: string | null;
  /** SIGNED: stored and perhaps sent; may be sent again unchanged. POSTED: accepted, fills unknown; never sent again. Others: final. */
  state: 'SIGNED' | 'POSTED' | 'FILLED' | 'REJECTED';
  createdAt: Date;
  /** Number of send attempts, and the time of the last. */
  attempts: number;
  sentAt: Date | null;
  rejectedBecause: string | null;
  filledContracts: number;
  costMicros: number;
  filledAt: Date | null;
  settlement: WagerSettlement | null;
}

export const POLYMARKET_INDEXES = [{ collection: 'polymarket_orders', indexes: [{ key: { venue: 1, state: 1, settlement: 1 } }] }];

export interface OrderPlan {
  tokenId: string;
  /** Limit price on the tick, in 1/10,000. */
  priceUnits: number;
  contracts: number;
  /** Maximum total cost, fee included, in micros. */
  maxCostMicros: number;
  tickSize: TickSize;
  negRisk: boolean;
  fee: FeeSchedule;
}

/** Caps on one wager and on all open ones, the cost of open ones, and the available cash, in micros. */
type SpendingLimits = Record<'maxStakeMicros' | 'maxOpenMicros' | 'openMicros' | 'cashMicros', number>;

/** Prices and sizes an order within the limits. @throws OracleError VENUE_REJECTED when no order remains that the exchange accepts */
export function planOrder(order: VenueOrder, { tokens, fee }: MarketTradingTerms, book: OrderBook, limits: SpendingLimits): OrderPlan {
  const { tickSize, minOrderSize, negRisk } = book;
  const priceUnits = findHighestPrice(order.limitCostMicros, tickSize, fee);
  if (priceUnits === null) throw venueRejectedError(`the limit of ${order.limitCostMicros} micros is below the lowest price`);
  const unitCost = computeUnitCostMicros(priceUnits, fee);
  const [spendable, because] = findTightestLimit(limits);
  const wanted = Math.min(order.contracts, Math.floor(Math.max(0, spendable) / unitCost));
  const contracts = roundToWholeCentContracts(wanted, priceUnits);
  if (contracts === 0 || contracts < minOrderSize) {
    const reason = wanted < order.contracts ? ` (${because} leaves ${spendable} micros)` : '';
    throw venueRejectedError(`${contracts} contracts are below the minimum order of ${minOrderSize}${reason}`);
  }
  return { tokenId: tokens[order.side], priceUnits, contracts, maxCostMicros: contracts * unitCost, tickSize, negRisk, fee };
}

function findTightestLimit({ maxStakeMicros, maxOpenMicros, openMicros, cashMicros }: SpendingLimits): [number, string] {
  const limits: [number, string][] = [
    [maxStakeMicros, `the cap of $${maxStakeMicros / MICROS} on one wager`],
    [maxOpenMicros - openMicros, `the cap of $${maxOpenMicros / MICROS} on open wagers`],
    [cashMicros, 'the account'],
  ];
  return limits.reduce((least, limit) => (limit[0] < least[0] ? limit : least));
}

export function venueRejectedError(reason: string): OracleError {
  return new OracleError('VENUE_REJECTED', `Polymarket: ${reason}`);
}

const ORDER_TYPE = [
  { name: 'salt', type: 'uint256' },
  { name: 'maker', type: 'address' },
  { name: 'signer', type: 'address' },
  { name: 'tokenId', type: 'uint256' },
  { name: 'makerAmount', type: 'uint256' },
  { name: 'takerAmount', type: 'uint256' },
  { name: 'side', type: 'uint8' },
  { name: 'signatureType', type: 'uint8' },
  { name: 'timestamp', type: 'uint256' },
  { name: 'metadata', type: 'bytes32' },
  { name: 'builder', type: 'bytes32' },
] as const;
const BUY = 0;

/** EIP-712 hash of a buy order, its id at the exchange. @param address of its contract */
function computeOrderHash(order: SignedOrder, version: 2 | 3, address: string): Hex {
  const [chainId, verifyingContract] = [POLYGON_CHAIN_ID, address as Address];
  return hashTypedData({
    domain: { name: 'Polymarket CTF Exchange', version: String(version), chainId, verifyingContract },
    types: { Order: ORDER_TYPE },
    primaryType: 'Order',
    message: {
      salt: BigInt(order.salt),
      maker: order.maker as Address,
      signer: order.signer as Address,
      tokenId: BigInt(order.tokenId),
      makerAmount: BigInt(order.makerAmount),
      takerAmount: BigInt(order.takerAmount),
      side: BUY,
      signatureType: order.signatureType,
      timestamp: BigInt(order.timestamp),
      metadata: order.metadata as Hex,
      builder: order.builder as Hex,
    },
  });
}
