import type { Exchange } from 'ccxt';
import { z } from 'zod';
import { DAY_MS, toDay, toInstantMs } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import { epochMs, finite, numeric, parseAnswer, positive, requireFinishedDay, selectWithinRange } from '../http-source.ts';
import type { DatedValue, DayRange, VenueSource, VenueTicker } from '../source.ts';
import { type CcxtMarket, queryExchange } from './ccxt-exchange.ts';

/** Rows of ccxt: open time, open, high, low, close and volume. */
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

interface CcxtVenueOptions extends Omit<VenueSource, 'fetchCloses' | 'fetchTicker'> {
  market: CcxtMarket;
  /** Schema of the raw response to the candles request. */
  candlesShape: z.ZodType;
  /** 24-hour change of a ticker in percent; null for a venue without one. */
  change24hPct(ticker: CcxtTicker): unknown;
}

/** A venue whose daily candles and ticker come from ccxt. */
export function createCcxtVenue({ market, candlesShape: shape, change24hPct, ...venue }: CcxtVenueOptions): VenueSource {
  const { history } = venue;
  return {
    ...venue,
    fetchCloses: (provider, range) =>
      queryExchange(market, provider, {
        what: 'daily candles',
        request: (exchange) => exchange.fetchOHLCV(market.symbol, '1d', toInstantMs(range.from), range.to - range.from + 1),
        shape,
        read: (rows, nowMs) => parseCandleCloses(rows, range, { history, title: provider.title, nowMs }),
      }),
    fetchTicker: (provider) =>
      queryExchange(market, provider, {
        what: 'ticker',
        request: (exchange) => exchange.fetchTicker(market.symbol),
        shape: z.unknown(),
        read: (ticker, nowMs) => parseTicker({ ...ticker, percentage: change24hPct(ticker) }, provider.title, nowMs),
      }),
  };
}

function parseCandleCloses(
  rows: unknown,
  range: DayRange,
  context: { history: VenueSource['history']; title: string; nowMs: number },
): DatedValue[] {
  const { title, nowMs } = context;
  const { candles } = parseAnswer(candleRows, { candles: rows }, title);
  const values = candles.map(([opensAtMs, , , , value]) => ({ day: toDay(opensAtMs), value, providerAtMs: opensAtMs + DAY_MS }));
  const closes = selectWithinRange(values, range, title, nowMs).filter(({ day }) => day < toDay(nowMs));
  requireFinishedDay(closes, range, context);
  return closes;
}

function parseTicker(ticker: unknown, title: string, nowMs: number): VenueTicker {
  const { last, timestamp, percentage } = parseAnswer(tickerFields, ticker, title);
  if (timestamp !== null && timestamp > nowMs + DAY_MS) {
    throw new OracleError('FEED_INVALID', `${title}: timestamp is in the future`, { field: 'timestamp' });
  }
  return { priceUsd: last, providerAtMs: timestamp, change24hPct: percentage };
}
