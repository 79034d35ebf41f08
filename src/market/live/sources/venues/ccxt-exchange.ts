import type { Exchange } from 'ccxt';
import type { z } from 'zod';
import { OracleError } from '../../../../platform/errors.ts';
import type { Provider, ProviderAnswer } from '../../providers/provider.ts';
import { parseAnswer } from '../http-source.ts';

/** One spot market of one exchange in ccxt. */
export interface CcxtMarket {
  /** Class name in ccxt. */
  exchange: 'coinbaseexchange' | 'kraken' | 'bitstamp' | 'binance';
  /** Unified symbol, e.g. `BTC/USD`. */
  symbol: string;
  /** The exchange's market id. */
  id: string;
  /** Overrides of ccxt's API URLs. */
  urls(baseUrl: string): Record<string, string>;
}

interface ExchangeQuery<Result, Value> {
  /** Name of the operation in messages. */
  what: string;
  /** Sends one request. */
  request(exchange: Exchange): Promise<Result>;
  /** Schema of the raw response: ccxt turns a missing key into an empty list. */
  shape: z.ZodType;
  read(result: Result, nowMs: number): Value;
}

/**
 * Queries a provider through ccxt.
 * @throws OracleError FEED_UNAVAILABLE, or FEED_INVALID naming the provider and the unreadable part
 */
export function queryExchange<Result, Value>(market: CcxtMarket, provider: Provider, query: ExchangeQuery<Result, Value>): Promise<Value> {
  const { what, request, shape, read } = query;
  return provider.call(what, async () => {
    const { exchange, lastAnswer } = await openExchange(market, provider);
    try {
      const result = await request(exchange);
      const { body, receivedAtMs } = lastAnswer();
      parseAnswer(shape, body, provider.title);
      return read(result, receivedAtMs);
    } catch (error) {
      // ccxt reads members of responses without validation.
      if (!(error instanceof TypeError)) throw error;
      throw new OracleError('FEED_INVALID', `${provider.title}: answer of ${what} cannot be read`, { field: 'answer', cause: error });
    }
  });
}

/** A ccxt exchange with one market that sends its requests through the provider, which does the retries. */
async function openExchange(market: CcxtMarket, provider: Provider): Promise<{ exchange: Exchange; lastAnswer: () => ProviderAnswer }> {
  // Loaded on demand, because ccxt takes about 100 MB and half a second.
  const { default: ccxt } = await import('ccxt');
  const answers: ProviderAnswer[] = [];
  const exchange: Exchange = new ccxt[market.exchange]({
    enableRateLimit: true,
    timeout: 10_000,
    options: { maxRetriesOnFailure: 0 },
    async fetchImplementation(url: string) {
      const answer = await provider.request({ path: url.slice(provider.baseUrl.length) });
      answers.push(answer);
      return new Response(JSON.stringify(answer.body));
    },
  });
  exchange.urls = { ...exchange.urls, api: { ...exchange.urls.api, ...market.urls(provider.baseUrl) } };
  const { id, symbol } = market;
  const [base, quote] = symbol.split('/');
  const spotMarket = { id, symbol, base, quote, baseId: base, quoteId: quote, type: 'spot', spot: true, active: true };
  // A preset market list prevents its download.
  exchange.setMarkets([exchange.safeMarketStructure(spotMarket)]);
  return { exchange, lastAnswer: () => answers.at(-1)! };
}
