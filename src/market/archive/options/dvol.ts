import { z } from 'zod';
import { formatDay, toInstantMs } from '../../../forecast/day.ts';
import { epochMs, finite, invalidAnswer, parseAnswer } from '../../live/sources/http-source.ts';
import type { ArchiveEntry, MaskedValue } from '../archive-series.ts';
import type { ArchiveCollector } from '../collector.ts';

const HOUR_MS = 3_600_000;
/** Percent a year; the highest ever published is below 200. */
const MAX_VOL = 500;

const ANSWER = z.object({
  /** Open time, open, high, low and close. */
  result: z.object({ data: z.array(z.tuple([epochMs, finite, finite, finite, finite])) }),
});

/** The close of the hourly candle that ends at 21:00 UTC, in percent a year. Source: public/get_volatility_index_data. */
export const dvolCollector: ArchiveCollector = {
  series: 'dvol',
  providers: ['deribit'],
  reachDays: 30,
  maxDelayMs: null,
  async collect(day, { providers: { deribit } }) {
    const endsAtMs = toInstantMs(day, 21);
    const opensAtMs = endsAtMs - HOUR_MS;
    const query = { currency: 'BTC', start_timestamp: opensAtMs, end_timestamp: endsAtMs, resolution: '3600' };
    const entry = await deribit.call('volatility index', async (): Promise<ArchiveEntry> => {
      const { body, receivedAtMs } = await deribit.request({ path: '/api/v2/public/get_volatility_index_data', query });
      const candle = parseAnswer(ANSWER, body, deribit.title).result.data.find(([openMs]) => openMs === opensAtMs);
      if (candle === undefined) throw invalidAnswer(deribit.title, 'data', `has no candle of ${new Date(opensAtMs).toISOString()}`);
      const masked = findMask(candle);
      const [, open, high, low, close] = candle;
      return {
        ...{ series: 'dvol', provider: 'deribit', key: formatDay(day) },
        values: masked === null ? { open, high, low, close } : { open: null, high: null, low: null, close: null },
        masked: masked === null ? [] : [masked],
        receivedAtMs,
        providerAtMs: endsAtMs,
      };
    });
    return { entries: [entry], problems: [] };
  },
};

function findMask([, open, high, low, close]: readonly number[]): MaskedValue | null {
  const candle = [open, high, low, close];
  if (candle.some((value) => value <= 0 || value > MAX_VOL)) return { what: 'candle', reason: `a value is not within 0 and ${MAX_VOL}` };
  if (high < Math.max(...candle) || low > Math.min(...candle)) return { what: 'candle', reason: 'high and low do not enclose the others' };
  return null;
}
