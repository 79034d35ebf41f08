import { z } from 'zod';
import { toInstantMs } from '../../forecast/day.ts';
import { createHttpVenue, orNull, price } from './source.ts';

const candle = z
  .array(z.unknown())
  .transform(([opensAt, low, high, open, ...rest]): unknown => [Number(opensAt) * 1_000, open, high, low, ...rest]);

export const coinbase = createHttpVenue({
  provider: 'coinbase',
  history: { from: '2015-07-20' },
  pageDays: 300,
  candlesRequest: ({ from, to }) => ({
    path: '/products/BTC-USD/candles',
    query: { granularity: 86_400, start: new Date(toInstantMs(from)).toISOString(), end: new Date(toInstantMs(to)).toISOString() },
  }),
  candles: z.array(candle.catch(null)),
  tickerRequest: { path: '/products/BTC-USD/ticker' },
  ticker: z
    .object({ price, time: orNull(z.iso.datetime().transform(Date.parse)) })
    // The ticker has neither a change nor an opening price.
    .transform((data) => ({ priceUsd: data.price, providerAtMs: data.time, change24hPct: null })),
});
