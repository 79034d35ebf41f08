import type { ClobClient } from '@polymarket/clob-client-v2';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { z } from 'zod';
import { type ErrorCode, isOracleError, OracleError } from '../../../platform/errors.ts';
import { createOfflineSigner } from '../../../platform/outbound/evm-client.ts';
import { MICROS } from '../../venue.ts';
import type { PolymarketOrderDoc, SignedOrder } from '../execution/order-store.ts';
import type { OrderPlan } from '../order-plan.ts';
import { PRICE_UNITS } from '../tick-price.ts';
import { type ClobOptions, loadClobClient, POLYGON_CHAIN_ID } from './market-data-client.ts';
import { computeOrderHash } from './order-hash.ts';
import { isExchangeRejection, requestExchange } from './request.ts';
import {
  balanceResponse,
  credentialsResponse,
  orderResponse,
  parseResponse,
  postOrderResponse,
  tradesResponse,
  versionResponse,
} from './responses.ts';

export interface TradingAccount {
  privateKey: Hex;
  /** 0 EOA, 1 POLY_PROXY, 2 POLY_GNOSIS_SAFE, 3 POLY_1271. */
  signatureType: number;
  /** Paying wallet; the key's own address if absent. */
  funder?: string;
}

/** Contracts bought, and their price without the fee in micros. */
export interface FilledAmount {
  contracts: number;
  paidMicros: number;
}

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
    return { signed, orderHash: computeOrderHash(signed, { chainId: POLYGON_CHAIN_ID, version, address }) };
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
    const request = { what, timeoutMs: this.#options.timeoutMs, rejectionCode };
    return parseResponse(what, schema, await requestExchange(request, () => run(client)));
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
    const request = { what: 'credentials', timeoutMs, rejectionCode: 'FEED_UNAVAILABLE' } as const;
    const creds = await requestExchange(request, () => deriveOrCreateCredentials(new ClobClient(options)));
    return new ClobClient({ ...options, creds: parseResponse('credentials', credentialsResponse, creds) });
  }
}

function deriveOrCreateCredentials(client: ClobClient): Promise<unknown> {
  return client.deriveApiKey().catch((error: unknown) => {
    if (isExchangeRejection(error)) return client.createApiKey();
    throw error;
  });
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
