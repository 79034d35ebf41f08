import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { DAY_MS, formatDay, toDay } from '../../forecast/day.ts';
import type { Provider, ProviderRequest } from '../live/provider.ts';
import {
  type DailyCandle,
  type DayRange,
  epochMs,
  finite,
  invalidAnswer,
  numeric,
  parseAnswer,
  parseRows,
  positive,
  requireFinishedDay,
  selectWithinRange,
  type VenueSource,
  type VenueTicker,
} from './source.ts';

export const amount = finite.or(numeric);
export const price = amount.pipe(positive);
export const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? null);

/** An invalid open, high or low does not invalidate the close. */
const rangePrice = price.nullable().catch(null);
/** Open time, open, high, low, close. */
const candleRow = z.tuple([epochMs.multipleOf(DAY_MS), rangePrice, rangePrice, rangePrice, price], z.unknown());

interface HttpVenueOptions extends Omit<VenueSource, 'fetchCandles' | 'fetchTicker'> {
  candlesRequest(range: DayRange): ProviderRequest;
  /** Parses a response to rows that begin as `candleRow`, if they are valid. */
  candles: z.ZodType<unknown[]>;
  tickerRequest: ProviderRequest;
  ticker: z.ZodType<VenueTicker>;
  /** Throws for an error in a response with status 200. */
  requireAccepted?(body: unknown, request: ProviderRequest, title: string): void;
}

/** A venue whose daily candles and ticker are one public request each. */
export function createHttpVenue(options: HttpVenueOptions): VenueSource {
  const { candlesRequest, candles, tickerRequest, ticker, requireAccepted, ...venue } = options;
  return {
    ...venue,
    async fetchCandles(provider, range) {
      const fetched = await provider.call('daily candles', async () => {
        const { title } = provider;
        const request = candlesRequest(range);
        const { body, receivedAtMs: nowMs } = await provider.request(request);
        requireAccepted?.(body, request, title);
        const rows = parseRows(candleRow, parseAnswer(candles, body, title), provider, ['candles']);
        const parsed = rows.map((row) => toCandle(row, nowMs));
        const selected = selectWithinRange(parsed, range, provider, nowMs).filter(({ day }) => day <= toDay(nowMs));
        requireFinishedDay(selected, range, { history: venue.history, title, nowMs });
        return selected;
      });
      reportRanges(fetched, provider);
      return fetched;
    },
    fetchTicker: (provider) =>
      provider.call('ticker', async () => {
        const { title } = provider;
        const { body, receivedAtMs: nowMs } = await provider.request(tickerRequest);
        requireAccepted?.(body, tickerRequest, title);
        const current = parseAnswer(ticker, body, title);
        if ((current.providerAtMs ?? 0) <= nowMs + DAY_MS) return current;
        throw new OracleError('FEED_INVALID', `${title}: timestamp is in the future`, { field: 'timestamp' });
      }),
  };
}

function toCandle([opensAtMs, open, high, low, closeUsd]: z.output<typeof candleRow>, nowMs: number): DailyCandle {
  const day = toDay(opensAtMs);
  const isKnown = open !== null && high !== null && low !== null;
  const encloses = isKnown && high >= Math.max(open, closeUsd) && low <= Math.min(open, closeUsd);
  const range = encloses ? { highUsd: high, lowUsd: low } : null;
  return { day, closeUsd, range, isFinished: day < toDay(nowMs), providerAtMs: opensAtMs + DAY_MS };
}

/** Not a failed call: the closes are used, and the circuit stays closed. Both kinds of candles come in requests of their own. */
function reportRanges(candles: readonly DailyCandle[], provider: Provider): void {
  for (const isFinished of [true, false]) {
    const ranged = candles.filter((candle) => candle.isFinished === isFinished);
    const invalid = ranged.find(({ range }) => range === null);
    if (ranged.length === 0) continue;
    const problem =
      invalid && invalidAnswer(provider.title, `the range of ${formatDay(invalid.day)}`, 'is missing or does not fit the candle');
    provider.recordProblem(isFinished ? 'daily ranges' : 'running range', problem ?? null);
  }
}
