import type { Exchange } from 'ccxt';
import { z } from 'zod';
import { OracleError } from '../../../errors.ts';
import { DAY_MS, dayOf, instantOf } from '../../../forecast/day.ts';
import type { DatedValue, DayRange, VenueSource, VenueTicker } from '../source.ts';
import { askExchange, type CcxtMarket } from './ccxt-exchange.ts';
import { epochMs, finite, numeric, parseAnswer, requireFinishedDay, withinRange } from './http-source.ts';

const positive = finite.positive();

/** ccxt's rows: open time, open, high, low, close and volume. */
const candleRows = z.object({
  candles: z.array(z.tuple([epochMs.multipleOf(DAY_MS), finite, finite, finite, positive], z.unknown())),
});

const tickerFields = z.object({
  last: positive,
  timestamp: epochMs.nullish().transform((atMs) => atMs ?? null),
  percentage: finite
    .or(numeric)
    .nullish()
    .transform((percent) => percent ?? null),
});

type CcxtTicker = Awaited<ReturnType<Exchange['fetchTicker']>>;

interface CcxtVenue {
  provider: VenueSource['provider'];
  history: VenueSource['history'];
  pageDays: number;
  market: CcxtMarket;
  /** Where the exchange's own answer has its candles. */
  candlesShape: z.ZodType;
  /** The 24 h change of a ticker, percent; null where the venue has none. */
  change24hPct(ticker: CcxtTicker): unknown;
}

/** A venue whose daily candles and ticker ccxt reads. */
export function ccxtVenue(venue: CcxtVenue): VenueSource {
  const { provider: id, history, pageDays, market, candlesShape: shape } = venue;
  return {
    provider: id,
    history,
    pageDays,
    closes: (provider, range) =>
      askExchange(market, provider, {
        what: 'daily candles',
        ask: (exchange) => exchange.fetchOHLCV(market.symbol, '1d', instantOf(range.from), range.to - range.from + 1),
        shape,
        read: (rows, nowMs) => closesOf(rows, range, { history, title: provider.title, nowMs }),
      }),
    ticker: (provider) =>
      askExchange(market, provider, {
        what: 'ticker',
        ask: (exchange) => exchange.fetchTicker(market.symbol),
        shape: z.unknown(),
        read: (ticker, nowMs) => tickerOf({ ...ticker, percentage: venue.change24hPct(ticker) }, provider.title, nowMs),
      }),
  };
}

function closesOf(rows: unknown, range: DayRange, facts: { history: VenueSource['history']; title: string; nowMs: number }): DatedValue[] {
  const { title, nowMs } = facts;
  const { candles } = parseAnswer(candleRows, { candles: rows }, title);
  const told = candles.map(([opensAtMs, , , , value]) => ({ day: dayOf(opensAtMs), value, providerAtMs: opensAtMs + DAY_MS }));
  const closes = withinRange(told, range, title, nowMs).filter(({ day }) => day < dayOf(nowMs));
  requireFinishedDay(closes, range, facts);
  return closes;
}

function tickerOf(ticker: unknown, title: string, nowMs: number): VenueTicker {
  const { last, timestamp, percentage } = parseAnswer(tickerFields, ticker, title);
  if (timestamp !== null && timestamp > nowMs + DAY_MS) {
    throw new OracleError('FEED_INVALID', `${title}: timestamp is in the future`, { field: 'timestamp' });
  }
  return { priceUsd: last, providerAtMs: timestamp, change24hPct: percentage };
}
