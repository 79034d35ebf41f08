import { z } from 'zod';
import { DAY_MS, toDay, toInstantMs } from '../../forecast/day.ts';
import {
  amount,
  createHttpSource,
  createHttpVenue,
  type DayRange,
  epochMs,
  numeric,
  orNull,
  parseAnswer,
  parseRows,
  price,
} from './source.ts';

const HISTORY = { from: '2017-08-17' };
const PAGE_DAYS = 1000;

/** BTC/USDT on Binance's public data mirror. USDT is a dollar token that deviates from the dollar by up to a few tenths of a percent. */
export const binance = createHttpVenue({
  provider: 'binance',
  history: HISTORY,
  pageDays: PAGE_DAYS,
  candlesRequest: buildKlinesRequest,
  candles: z.array(z.unknown()),
  tickerRequest: { path: '/api/v3/ticker/24hr', query: { symbol: 'BTCUSDT' } },
  ticker: z
    .object({ lastPrice: price, closeTime: orNull(epochMs), priceChangePercent: orNull(amount) })
    .transform((data) => ({ priceUsd: data.lastPrice, providerAtMs: data.closeTime, change24hPct: data.priceChangePercent })),
});

const volume = numeric.pipe(z.number().nonnegative());

/** Open time, four prices, volume, close time, quote volume, trades, taker buy volume. */
const kline = z
  .tuple([epochMs.multipleOf(DAY_MS), numeric, numeric, numeric, numeric, volume, epochMs, volume, z.number(), volume], z.unknown())
  .refine(([opensAtMs, , , , , , closesAtMs]) => closesAtMs === opensAtMs + DAY_MS - 1, 'is not the candle of a day')
  .refine((row) => row[9] <= row[5], 'has takers buy more than was traded');

export const binanceTakerBuyFraction = createHttpSource({
  provider: 'binance',
  history: HISTORY,
  pageDays: PAGE_DAYS,
  daily: true,
  request: buildKlinesRequest,
  read: (body, _range, reader, nowMs) =>
    parseRows(kline, parseAnswer(z.array(z.unknown()), body, reader.title), reader)
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
