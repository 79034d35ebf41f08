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
  /** The wallet that pays; the key's own address when absent. */
  funder?: string;
}

/** Contracts bought, and what was paid for them without the fee, in micros. */
export interface FilledAmount {
  contracts: number;
  paidMicros: number;
}

/** What the exchange shows of an order: whether it knows it at all, whether it may still buy, and what it has bought. */
export interface OrderLookup extends FilledAmount {
  known: boolean;
  open: boolean;
}

/** REFUSED: not taken, for the reason. TAKEN: the exchange has or may have the order; what it bought has to be looked up. */
export type PostOutcome = ({ kind: 'MATCHED' } & FilledAmount) | { kind: 'TAKEN' } | { kind: 'REFUSED'; reason: string };

type Trade = z.output<typeof tradesResponse>['trades'][number];

const FAILED_STATUS = 'FAILED';
const OPEN_STATUS = /live|delayed/i;
const LAST_PAGE = 'LTE=';
const MAX_PAGES = 50;
/** A duplicate has been taken before; a delay or an error of the exchange's own leaves open whether the order was. */
const UNDECIDED_REASON = /duplicated|delay|could not/i;

/** One account at the exchange. Requests are authenticated by the client; the credentials are derived from the key on first use. */
export class TradingClient {
  readonly #options: ClobOptions & { account: TradingAccount };
  #client: Promise<ClobClient> | undefined;

  constructor(options: ClobOptions & { account: TradingAccount }) {
    this.#options = options;
  }

  /** Collateral that is free to spend, in micros. */
  async fetchBalanceMicros(): Promise<number> {
    const { AssetType } = await import('@polymarket/clob-client-v2');
    const answer = await this.#request('balance', (client) => client.getBalanceAllowance({ asset_type: AssetType.COLLATERAL }));
    return Number(parseResponse('balance', balanceResponse, answer).balance);
  }

  /** Builds and signs the order of a plan; nothing is sent. */
  async signOrder({ tokenId, priceUnits, contracts, tickSize, negRisk }: OrderPlan): Promise<{ signed: SignedOrder; orderHash: Hex }> {
    const { Side, getContractConfig } = await import('@polymarket/clob-client-v2');
    const version = parseResponse('version', versionResponse, await this.#request('version', (client) => client.getVersion()));
    const { orderBuilder } = await this.#getClient();
    const wanted = { tokenID: tokenId, price: priceUnits / PRICE_UNITS, size: contracts, side: Side.BUY };
    const signed = (await orderBuilder.buildOrder(wanted, { tickSize, negRisk }, version)) as SignedOrder;
    const makerAmount = String((contracts * priceUnits * MICROS) / PRICE_UNITS);
    if (signed.makerAmount !== makerAmount || signed.takerAmount !== String(contracts * MICROS)) {
      throw new OracleError(
        'INTERNAL',
        `Polymarket: the client signed ${signed.makerAmount} for ${signed.takerAmount}, not ${makerAmount}`,
      );
    }
    const { exchangeV2, negRiskExchangeV2, exchangeV3 } = getContractConfig(POLYGON_CHAIN_ID);
    const address = version === 3 ? exchangeV3 : negRisk ? negRiskExchangeV2 : exchangeV2;
    return { signed, orderHash: computeOrderHash(signed, { chainId: POLYGON_CHAIN_ID, version, address }) };
  }

  /**
   * Sends a signed order: what can be bought at once is, the rest is cancelled. Sent twice, it is still one order.
   * @throws OracleError FEED_UNAVAILABLE when it is not known whether it arrived.
   */
  async postOrder(order: PolymarketOrderDoc): Promise<PostOutcome> {
    const { OrderType } = await import('@polymarket/clob-client-v2');
    const signed = order.signed as SignedOrder;
    await this.#getClient();
    try {
      const answer = await this.#request('order', (client) => client.postOrder(signed, OrderType.FAK), 'VENUE_REJECTED');
      return toPostOutcome(parseResponse('order', postOrderResponse, answer), signed);
    } catch (error) {
      if (isOracleError(error, 'FEED_INVALID')) return { kind: 'TAKEN' };
      if (isOracleError(error, 'VENUE_REJECTED')) return toRejectionOutcome(error.message.replace('Polymarket: order: ', ''));
      throw error;
    }
  }

  /**
   * What the exchange knows of an order that may have been sent: its record while it is open, its trades afterwards.
   * @throws OracleError FEED_UNAVAILABLE while the trades are fewer than the record says.
   */
  async lookUpOrder({ orderHash: hash, market, tokenId }: PolymarketOrderDoc): Promise<OrderLookup> {
    const record = parseResponse(
      'order record',
      orderResponse,
      await this.#request('order record', (client) => fetchOrderRecord(client, hash as string)),
    );
    const trades = (await this.#listTrades(market.id, tokenId)).filter(
      (trade) => trade.taker_order_id === hash && trade.status !== FAILED_STATUS,
    );
    const contracts = trades.reduce((sum, { size }) => sum + size, 0);
    const paidMicros = Math.ceil(trades.reduce((sum, { size, price }) => sum + size * price, 0) * MICROS - 1e-3);
    if (record !== null && record.size_matched > contracts + 1 / MICROS) {
      throw new OracleError('FEED_UNAVAILABLE', 'Polymarket: trades: not all trades of the order are listed yet');
    }
    const open = record !== null && OPEN_STATUS.test(record.status);
    return { known: record !== null || trades.length > 0, open, contracts, paidMicros };
  }

  async #listTrades(market: string, asset: string): Promise<Trade[]> {
    const all: Trade[] = [];
    let cursor: string | undefined;
    for (let pages = 0; cursor !== LAST_PAGE; pages++) {
      if (pages === MAX_PAGES) throw new OracleError('FEED_INVALID', 'Polymarket: trades.next_cursor: never ends');
      const answer = await this.#request('trades', (client) => client.getTradesPaginated({ market, asset_id: asset }, cursor));
      const page = parseResponse('trades', tradesResponse, answer);
      all.push(...page.trades);
      cursor = page.next_cursor;
    }
    return all;
  }

  async #request(what: string, run: (client: ClobClient) => Promise<unknown>, refusedAs: ErrorCode = 'FEED_UNAVAILABLE'): Promise<unknown> {
    const client = await this.#getClient();
    return requestExchange({ what, timeoutMs: this.#options.timeoutMs, rejectionCode: refusedAs }, () => run(client));
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

/** The credentials of the account's key: derived where there are any, else created. */
async function deriveOrCreateCredentials(client: ClobClient): Promise<unknown> {
  try {
    return await client.deriveApiKey();
  } catch (error) {
    if (isExchangeRejection(error)) return client.createApiKey();
    throw error;
  }
}

async function fetchOrderRecord(client: ClobClient, hash: string): Promise<unknown> {
  try {
    return await client.getOrder(hash);
  } catch (error) {
    if (isExchangeRejection(error) && error.status === 404) return null;
    throw error;
  }
}

function toPostOutcome(answer: z.output<typeof postOrderResponse>, signed: SignedOrder): PostOutcome {
  if (answer.errorMsg) return toRejectionOutcome(answer.errorMsg);
  if (!answer.success) return { kind: 'REFUSED', reason: `the order was not taken (${answer.status})` };
  const contracts = Number(answer.takingAmount);
  const paidMicros = Math.round(Number(answer.makingAmount) * MICROS);
  // Amounts that cannot be those of this order, or in its unit, are not believed: its trades tell.
  const believable = contracts > 0 && paidMicros > 0 && paidMicros <= Number(signed.makerAmount);
  return answer.status === 'matched' && believable ? { kind: 'MATCHED', contracts, paidMicros } : { kind: 'TAKEN' };
}

function toRejectionOutcome(reason: string): PostOutcome {
  return UNDECIDED_REASON.test(reason) ? { kind: 'TAKEN' } : { kind: 'REFUSED', reason };
}
