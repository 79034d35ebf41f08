import { z } from 'zod';
import { toDay, toInstantMs } from '../../../../forecast/day.ts';
import { createHttpSource, epochMs, numeric, parseAnswer } from '../http-source.ts';
import type { DayRange } from '../source.ts';
import { amount, createHttpVenue, orNull, price } from './http-venue.ts';

const HISTORY = { from: '2017-08-17' };
const PAGE_DAYS = 1000;

/** BTC/USDT on Binance's public data mirror. USDT is a dollar token that deviates from the dollar by up to a few tenths of a percent. */
export const binance = createHttpVenue({
  provider: 'binance',
  history: HISTORY,
  pageDays: PAGE_DAYS,
  candlesRequest: buildKlinesRequest,
  candles: z.array(z.array(z.unknown())),
  tickerRequest: { path: '/api/v3/ticker/24hr', query: { symbol: 'BTCUSDT' } },
  ticker: z
    .object({ lastPrice: price, closeTime: orNull(epochMs), priceChangePercent: orNull(amount) })
    .transform((data) => ({ priceUsd: data.lastPrice, providerAtMs: data.closeTime, change24hPct: data.priceChangePercent })),
});

const volume = numeric.pipe(z.number().nonnegative());

/** Open time, four prices, volume, close time, quote volume, trades, taker buy volume. */
const klines = z.array(
  z
    .tuple([epochMs, numeric, numeric, numeric, numeric, volume, epochMs, volume, z.number(), volume], z.unknown())
    .refine((kline) => kline[9] <= kline[5], 'has takers buy more than was traded'),
);

export const binanceTakerBuyFraction = createHttpSource({
  provider: 'binance',
  history: HISTORY,
  pageDays: PAGE_DAYS,
  daily: true,
  request: buildKlinesRequest,
  read: (body, _range, title, nowMs) =>
    parseAnswer(klines, body, title)
      .filter(([opensAtMs, , , , , traded]) => toDay(opensAtMs) !== toDay(nowMs) && traded > 0)
      .map(([opensAtMs, , , , , traded, closesAtMs, , , takersBought]) => ({
        day: toDay(opensAtMs),
        value: takersBought / traded,
        providerAtMs: closesAtMs,
      })),
});

function buildKlinesRequest({ from, to }: DayRange) {
  const query = { symbol: 'BTCUSDT', interval: '1d', startTime: toInstantMs(from), endTime: toInstantMs(to + 1) - 1, limit: PAGE_DAYS };
  return { path: '/api/v3/klines', query };
}
