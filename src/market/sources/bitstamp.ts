import { z } from 'zod';
import { toInstantMs } from '../../forecast/day.ts';
import { amount, createHttpVenue, epochMsText, orNull, price } from './source.ts';

const candle = z
  .looseObject({})
  .transform(({ timestamp, open, high, low, close }): unknown => [Number(timestamp) * 1_000, open, high, low, close]);

export const bitstamp = createHttpVenue({
  provider: 'bitstamp',
  history: { from: '2011-08-18' },
  pageDays: 1000,
  candlesRequest: ({ from, to }) => ({
    path: '/api/v2/ohlc/btcusd/',
    query: { step: 86_400, start: toInstantMs(from) / 1_000, end: toInstantMs(to + 1) / 1_000 - 1, limit: to - from + 1 },
  }),
  candles: z.object({ data: z.object({ ohlc: z.array(candle.catch(null)) }) }).transform(({ data }) => data.ohlc),
  tickerRequest: { path: '/api/v2/ticker/btcusd/' },
  ticker: z
    .object({ last: price, timestamp: orNull(epochMsText), percent_change_24: orNull(amount) })
    .transform(({ last: priceUsd, timestamp, percent_change_24: change24hPct }) => {
      return { priceUsd, providerAtMs: timestamp === null ? null : timestamp * 1_000, change24hPct };
    }),
});
