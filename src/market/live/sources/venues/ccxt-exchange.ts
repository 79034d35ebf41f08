import type { Exchange } from 'ccxt';
import type { z } from 'zod';
import { OracleError } from '../../../../platform/errors.ts';
import type { Provider, ProviderAnswer } from '../../providers/provider.ts';
import { parseAnswer } from '../http-source.ts';

/** One spot market of one exchange that ccxt knows. */
export interface CcxtMarket {
  /** ccxt's class. */
  exchange: 'coinbaseexchange' | 'kraken' | 'bitstamp' | 'binance';
  /** ccxt's name of the market, e.g. `BTC/USD`. */
  symbol: string;
  /** The exchange's name of it. */
  id: string;
  /** ccxt's URLs to set, by their names, from the provider's base URL. */
  urls(baseUrl: string): Record<string, string>;
}

interface ExchangeQuery<Told, Value> {
  /** For messages. */
  what: string;
  /** One request. */
  request(exchange: Exchange): Promise<Told>;
  /** What the exchange's own answer is made of: where a key is gone, ccxt makes an empty list of it. */
  shape: z.ZodType;
  /** `nowMs` is when the answer arrived. */
  read(result: Told, nowMs: number): Value;
}

/**
 * Asks a provider through ccxt, which knows its URLs and its words.
 * @throws OracleError FEED_UNAVAILABLE, and FEED_INVALID naming the provider and what of its answer cannot be read
 */
export function queryExchange<Told, Value>(market: CcxtMarket, provider: Provider, query: ExchangeQuery<Told, Value>): Promise<Value> {
  const { what, request, shape, read } = query;
  return provider.call(what, async () => {
    const { exchange, lastAnswer } = await openExchange(market, provider);
    try {
      const result = await request(exchange);
      const { body, receivedAtMs } = lastAnswer();
      parseAnswer(shape, body, provider.title);
      return read(result, receivedAtMs);
    } catch (error) {
      // ccxt looks into answers without asking what they are.
      if (!(error instanceof TypeError)) throw error;
      throw new OracleError('FEED_INVALID', `${provider.title}: answer of ${what} cannot be read`, { field: 'answer', cause: error });
    }
  });
}

/** A ccxt exchange that knows one market and sends its requests through the provider, which repeats what failed. */
async function openExchange(market: CcxtMarket, provider: Provider): Promise<{ exchange: Exchange; lastAnswer: () => ProviderAnswer }> {
  // About 100 MB and half a second: only processes that ask an exchange pay for it.
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
  // With the market list set by hand none is downloaded.
  exchange.setMarkets([buildMarketStructure(exchange, market)]);
  return { exchange, lastAnswer: () => answers.at(-1)! };
}

function buildMarketStructure(exchange: Exchange, { symbol, id }: CcxtMarket) {
  const [base, quote] = symbol.split('/');
  return exchange.safeMarketStructure({ id, symbol, base, quote, baseId: base, quoteId: quote, type: 'spot', spot: true, active: true });
}
