import type { ClobClient } from '@polymarket/clob-client-v2';
import type { z } from 'zod';
import type { Side } from '../../sizing.ts';
import type { BookDepth } from '../../venue.ts';
import type { FeeSchedule } from '../fee.ts';
import type { TickSize } from '../tick-price.ts';
import { requestExchange } from './request.ts';
import { bookResponse, invalidResponseError, marketInfoResponse, marketResponse, parseResponse } from './responses.ts';

export const POLYGON_CHAIN_ID = 137;

export interface ClobOptions {
  host: string;
  /** Per request. Posting an order takes up to 30 s, as the client waits for the transactions of the trades. */
  timeoutMs: number;
}

export interface MarketTradingTerms {
  tokens: Record<Side, string>;
  fee: FeeSchedule;
}

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
  #client: Promise<ClobClient> | undefined;

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

  /** The winning side; null while the market is open, and permanently if it resolves without a winner. */
  async fetchWinner(conditionId: string): Promise<Side | null> {
    const { closed, tokens } = await this.#fetch('market', marketResponse, (client) => client.getMarket(conditionId));
    const winners = tokens.filter(({ winner }) => winner).map(({ outcome }) => outcome.toUpperCase());
    const [winner] = winners;
    if (!closed || winners.length !== 1) return null;
    if (winner !== 'YES' && winner !== 'NO') throw invalidResponseError('market.tokens', 'the winner is neither Yes nor No');
    return winner;
  }

  async #fetch<T>(what: string, schema: z.ZodType<T>, run: (client: ClobClient) => Promise<unknown>): Promise<T> {
    this.#client ??= createPublicClobClient(this.#options);
    const client = await this.#client;
    const request = { what, timeoutMs: this.#options.timeoutMs, rejectionCode: 'VENUE_REJECTED' } as const;
    return parseResponse(what, schema, await requestExchange(request, () => run(client)));
  }
}

/** Loads the exchange's client, limited to its origin; on demand, because it is large. */
export async function loadClobClient({ host, timeoutMs }: ClobOptions) {
  const { allowAxiosOrigin } = await import('../../../platform/outbound/axios-guard.ts');
  allowAxiosOrigin(host, timeoutMs);
  return import('@polymarket/clob-client-v2');
}

async function createPublicClobClient(options: ClobOptions): Promise<ClobClient> {
  const { ClobClient } = await loadClobClient(options);
  return new ClobClient({ host: options.host, chain: POLYGON_CHAIN_ID, throwOnError: true });
}
