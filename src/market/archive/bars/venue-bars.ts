import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import type { Provider, ProviderRequest } from '../../live/providers/provider.ts';
import { finite, numeric, parseAnswer } from '../../live/sources/http-source.ts';
import { BAR_MS, BARS_PER_DAY, type Bar } from './bar.ts';

const PAIR = 'XXBTZUSD';
const amount = finite.or(numeric);
const seconds = z.int().positive();

/** Time, low, high, open, close and volume, newest first. */
const COINBASE = z.array(z.tuple([seconds, amount, amount, amount, amount, amount], z.unknown()));
/** Time, open, high, low, close, volume-weighted mean and volume. */
const KRAKEN = z.object({
  error: z.array(z.string()),
  result: z.object({ [PAIR]: z.array(z.tuple([seconds, amount, amount, amount, amount, amount, amount], z.unknown())) }).optional(),
});

export interface VenueBars {
  /** Days back with 5-minute bars. */
  reachDays: number;
  buildRequest(startMs: number): ProviderRequest;
  /** @throws OracleError FEED_INVALID, FEED_UNAVAILABLE */
  parse(body: unknown, title: string): Bar[];
}

export const VENUE_BARS: Record<'coinbase' | 'kraken', VenueBars> = {
  coinbase: {
    reachDays: 2,
    buildRequest: (startMs) => ({
      path: '/products/BTC-USD/candles',
      // `end` is inclusive; at most 300 bars.
      query: {
        granularity: BAR_MS / 1_000,
        start: new Date(startMs).toISOString(),
        end: new Date(startMs + (BARS_PER_DAY - 1) * BAR_MS).toISOString(),
      },
    }),
    parse: (body, title) =>
      parseAnswer(COINBASE, body, title).map(([at, low, high, open, close, volume]) => {
        return { opensAtMs: at * 1_000, open, high, low, close, volume };
      }),
  },
  kraken: {
    // The last 720 bars, which are sixty hours.
    reachDays: 1,
    // `since` is exclusive.
    buildRequest: (startMs) => ({
      path: '/0/public/OHLC',
      query: { pair: PAIR, interval: BAR_MS / 60_000, since: startMs / 1_000 - 1 },
    }),
    parse(body, title) {
      const { error, result } = parseAnswer(KRAKEN, body, title);
      if (result === undefined) throw new OracleError('FEED_UNAVAILABLE', `${title}: ${error[0] ?? 'no bars'}`.slice(0, 200));
      return result[PAIR].map(([at, open, high, low, close, , volume]) => ({ opensAtMs: at * 1_000, open, high, low, close, volume }));
    },
  },
};

export async function fetchBars(
  provider: Provider,
  { buildRequest, parse }: VenueBars,
  startMs: number,
): Promise<{ bars: Bar[]; receivedAtMs: number }> {
  return provider.call('5-minute bars', async () => {
    const { body, receivedAtMs } = await provider.request(buildRequest(startMs));
    return { bars: parse(body, provider.title), receivedAtMs };
  });
}
