import { z } from 'zod';
import { DAY_MS, toDay } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { ProviderRequest } from '../../providers/provider.ts';
import { epochMs, finite, numeric, parseAnswer, positive, requireFinishedDay, selectWithinRange } from '../http-source.ts';
import type { DayRange, VenueSource, VenueTicker } from '../source.ts';

export const amount = finite.or(numeric);
export const price = amount.pipe(positive);
export const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? null);

/** Open time, three prices and the close. */
const candleRows = z.object({ candles: z.array(z.tuple([epochMs.multipleOf(DAY_MS), amount, amount, amount, price], z.unknown())) });

interface HttpVenueOptions extends Omit<VenueSource, 'fetchCloses' | 'fetchTicker'> {
  candlesRequest(range: DayRange): ProviderRequest;
  /** Parses a response to rows that begin as those of `candleRows`. */
  candles: z.ZodType<unknown[][]>;
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
    fetchCloses: (provider, range) =>
      provider.call('daily candles', async () => {
        const { title } = provider;
        const request = candlesRequest(range);
        const { body, receivedAtMs: nowMs } = await provider.request(request);
        requireAccepted?.(body, request, title);
        const rows = parseAnswer(candleRows, { candles: parseAnswer(candles, body, title) }, title).candles;
        const values = rows.map(([opensAtMs, , , , value]) => ({ day: toDay(opensAtMs), value, providerAtMs: opensAtMs + DAY_MS }));
        const closes = selectWithinRange(values, range, title, nowMs).filter(({ day }) => day < toDay(nowMs));
        requireFinishedDay(closes, range, { history: venue.history, title, nowMs });
        return closes;
      }),
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
