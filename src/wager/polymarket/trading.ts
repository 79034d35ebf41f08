import type { ClobClient } from '@polymarket/clob-client-v2';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { z } from 'zod';
import { type ErrorCode, isOracleError, OracleError } from '../../errors.ts';
import { createOfflineSigner } from '../../platform/outbound/evm-client.ts';
import { MICROS } from '../venue.ts';
import { balanceAnswer, credentialsAnswer, orderAnswer, postAnswer, read, tradesAnswer, versionAnswer } from './answers.ts';
import { ask, isRefusal } from './ask.ts';
import { type ClobOptions, loadClobClient, POLYGON } from './clob.ts';
import { orderHash } from './order-hash.ts';
import type { OrderPlan } from './order-plan.ts';
import type { OrderDoc, SignedOrder } from './orders.ts';
import { PRICE_UNITS } from './tick-price.ts';

export interface TradingAccount {
  privateKey: Hex;
  /** 0 EOA, 1 POLY_PROXY, 2 POLY_GNOSIS_SAFE, 3 POLY_1271. */
  signatureType: number;
  /** The wallet that pays; the key's own address when absent. */
  funder?: string;
}

/** Contracts bought, and what was paid for them without the fee, in micros. */
export interface Bought {
  contracts: number;
  paidMicros: number;
}

/** What the exchange shows of an order: whether it knows it at all, whether it may still buy, and what it has bought. */
export interface Found extends Bought {
  known: boolean;
  open: boolean;
}

/** REFUSED: not taken, for the reason. TAKEN: the exchange has or may have the order; what it bought has to be looked up. */
export type PostOutcome = ({ kind: 'MATCHED' } & Bought) | { kind: 'TAKEN' } | { kind: 'REFUSED'; reason: string };

type Trade = z.output<typeof tradesAnswer>['trades'][number];

const FAILED = 'FAILED';
const OPEN = /live|delayed/i;
const LAST_PAGE = 'LTE=';
const MOST_PAGES = 50;
/** A duplicate has been taken before; a delay or an error of the exchange's own leaves open whether the order was. */
const UNDECIDED = /duplicated|delay|could not/i;

/** One account at the exchange. Requests are authenticated by the client; the credentials are derived from the key on first use. */
export class Trading {
  readonly #options: ClobOptions & { account: TradingAccount };
  #client: Promise<ClobClient> | undefined;

  constructor(options: ClobOptions & { account: TradingAccount }) {
    this.#options = options;
  }

  /** Collateral that is free to spend, in micros. */
  async balanceMicros(): Promise<number> {
    const { AssetType } = await import('@polymarket/clob-client-v2');
    const answer = await this.#ask('balance', (client) => client.getBalanceAllowance({ asset_type: AssetType.COLLATERAL }));
    return Number(read('balance', balanceAnswer, answer).balance);
  }

  /** Builds and signs the order of a plan; nothing is sent. */
  async sign({ tokenId, priceUnits, contracts, tickSize, negRisk }: OrderPlan): Promise<{ signed: SignedOrder; orderHash: Hex }> {
    const { Side, getContractConfig } = await import('@polymarket/clob-client-v2');
    const version = read('version', versionAnswer, await this.#ask('version', (client) => client.getVersion()));
    const { orderBuilder } = await this.#connected();
    const wanted = { tokenID: tokenId, price: priceUnits / PRICE_UNITS, size: contracts, side: Side.BUY };
    const signed = (await orderBuilder.buildOrder(wanted, { tickSize, negRisk }, version)) as SignedOrder;
    const makerAmount = String((contracts * priceUnits * MICROS) / PRICE_UNITS);
    if (signed.makerAmount !== makerAmount || signed.takerAmount !== String(contracts * MICROS)) {
      throw new OracleError(
        'INTERNAL',
        `Polymarket: the client signed ${signed.makerAmount} for ${signed.takerAmount}, not ${makerAmount}`,
      );
    }
    const { exchangeV2, negRiskExchangeV2, exchangeV3 } = getContractConfig(POLYGON);
    const address = version === 3 ? exchangeV3 : negRisk ? negRiskExchangeV2 : exchangeV2;
    return { signed, orderHash: orderHash(signed, { chainId: POLYGON, version, address }) };
  }

  /**
   * Sends a signed order: what can be bought at once is, the rest is cancelled. Sent twice, it is still one order.
   * @throws OracleError FEED_UNAVAILABLE when it is not known whether it arrived.
   */
  async post(order: OrderDoc): Promise<PostOutcome> {
    const { OrderType } = await import('@polymarket/clob-client-v2');
    const signed = order.signed as SignedOrder;
    await this.#connected();
    try {
      const answer = await this.#ask('order', (client) => client.postOrder(signed, OrderType.FAK), 'VENUE_REJECTED');
      return outcomeOf(read('order', postAnswer, answer), signed);
    } catch (error) {
      if (isOracleError(error, 'FEED_INVALID')) return { kind: 'TAKEN' };
      if (isOracleError(error, 'VENUE_REJECTED')) return refusal(error.message.replace('Polymarket: order: ', ''));
      throw error;
    }
  }

  /**
   * What the exchange knows of an order that may have been sent: its record while it is open, its trades afterwards.
   * @throws OracleError FEED_UNAVAILABLE while the trades are fewer than the record says.
   */
  async lookUp({ orderHash: hash, market, tokenId }: OrderDoc): Promise<Found> {
    const record = read('order record', orderAnswer, await this.#ask('order record', (client) => orderRecord(client, hash as string)));
    const trades = (await this.#trades(market.id, tokenId)).filter((trade) => trade.taker_order_id === hash && trade.status !== FAILED);
    const contracts = trades.reduce((sum, { size }) => sum + size, 0);
    const paidMicros = Math.ceil(trades.reduce((sum, { size, price }) => sum + size * price, 0) * MICROS - 1e-3);
    if (record !== null && record.size_matched > contracts + 1 / MICROS) {
      throw new OracleError('FEED_UNAVAILABLE', 'Polymarket: trades: not all trades of the order are listed yet');
    }
    const open = record !== null && OPEN.test(record.status);
    return { known: record !== null || trades.length > 0, open, contracts, paidMicros };
  }

  async #trades(market: string, asset: string): Promise<Trade[]> {
    const all: Trade[] = [];
    let cursor: string | undefined;
    for (let pages = 0; cursor !== LAST_PAGE; pages++) {
      if (pages === MOST_PAGES) throw new OracleError('FEED_INVALID', 'Polymarket: trades.next_cursor: never ends');
      const answer = await this.#ask('trades', (client) => client.getTradesPaginated({ market, asset_id: asset }, cursor));
      const page = read('trades', tradesAnswer, answer);
      all.push(...page.trades);
      cursor = page.next_cursor;
    }
    return all;
  }

  async #ask(what: string, run: (client: ClobClient) => Promise<unknown>, refusedAs: ErrorCode = 'FEED_UNAVAILABLE'): Promise<unknown> {
    const client = await this.#connected();
    return ask({ what, timeoutMs: this.#options.timeoutMs, refusedAs }, () => run(client));
  }

  async #connected(): Promise<ClobClient> {
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
    const options = { host, chain: POLYGON, signer, signatureType, funderAddress: funder, throwOnError: true };
    const question = { what: 'credentials', timeoutMs, refusedAs: 'FEED_UNAVAILABLE' } as const;
    const creds = await ask(question, () => credentials(new ClobClient(options)));
    return new ClobClient({ ...options, creds: read('credentials', credentialsAnswer, creds) });
  }
}

/** The credentials of the account's key: derived where there are any, else created. */
async function credentials(client: ClobClient): Promise<unknown> {
  try {
    return await client.deriveApiKey();
  } catch (error) {
    if (isRefusal(error)) return client.createApiKey();
    throw error;
  }
}

async function orderRecord(client: ClobClient, hash: string): Promise<unknown> {
  try {
    return await client.getOrder(hash);
  } catch (error) {
    if (isRefusal(error) && error.status === 404) return null;
    throw error;
  }
}

function outcomeOf(answer: z.output<typeof postAnswer>, signed: SignedOrder): PostOutcome {
  if (answer.errorMsg) return refusal(answer.errorMsg);
  if (!answer.success) return { kind: 'REFUSED', reason: `the order was not taken (${answer.status})` };
  const contracts = Number(answer.takingAmount);
  const paidMicros = Math.round(Number(answer.makingAmount) * MICROS);
  // Amounts that cannot be those of this order, or in its unit, are not believed: its trades tell.
  const believable = contracts > 0 && paidMicros > 0 && paidMicros <= Number(signed.makerAmount);
  return answer.status === 'matched' && believable ? { kind: 'MATCHED', contracts, paidMicros } : { kind: 'TAKEN' };
}

function refusal(reason: string): PostOutcome {
  return UNDECIDED.test(reason) ? { kind: 'TAKEN' } : { kind: 'REFUSED', reason };
}
