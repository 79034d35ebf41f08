import { z } from 'zod';
import { toDay, toInstantMs } from '../../../../forecast/day.ts';
import { createHttpSource, epochMs, numeric, parseAnswer } from '../http-source.ts';
import { createCcxtVenue } from './ccxt-venue.ts';

const HISTORY = { from: '2017-08-17' };
const PAGE_DAYS = 1000;

/** BTC/USDT on Binance's public data mirror. USDT is a dollar token that deviates from the dollar by up to a few tenths of a percent. */
export const binance = createCcxtVenue({
  provider: 'binance',
  history: HISTORY,
  pageDays: PAGE_DAYS,
  market: {
    exchange: 'binance',
    symbol: 'BTC/USDT',
    id: 'BTCUSDT',
    urls: (baseUrl) => ({ public: `${baseUrl}/api/v3` }),
  },
  candlesShape: z.array(z.array(z.unknown())),
  change24hPct: ({ percentage }) => percentage,
});

const volume = numeric.pipe(z.number().nonnegative());

/** Open time, four prices, volume, close time, quote volume, trades, taker buy volume. */
const klines = z.array(
  z
    .tuple([epochMs, numeric, numeric, numeric, numeric, volume, epochMs, volume, z.number(), volume], z.unknown())
    .refine((kline) => kline[9] <= kline[5], 'has takers buy more than was traded'),
);

/** Taker buy share of the volume of complete days. */
export const binanceTakerBuyFraction = createHttpSource({
  provider: 'binance',
  history: HISTORY,
  pageDays: PAGE_DAYS,
  daily: true,
  request: ({ from, to }) => ({
    path: '/api/v3/klines',
    query: { symbol: 'BTCUSDT', interval: '1d', startTime: toInstantMs(from), endTime: toInstantMs(to + 1) - 1, limit: PAGE_DAYS },
  }),
  read: (body, _range, title, nowMs) =>
    parseAnswer(klines, body, title)
      .filter(([opensAtMs, , , , , traded]) => toDay(opensAtMs) !== toDay(nowMs) && traded > 0)
      .map(([opensAtMs, , , , , traded, closesAtMs, , , takersBought]) => ({
        day: toDay(opensAtMs),
        value: takersBought / traded,
        providerAtMs: closesAtMs,
      })),
});
