import { z } from 'zod';
import { type Day, parseDay, toDay, toInstantMs } from '../../../../forecast/day.ts';
import { isTradingDay } from '../../../series/us-calendar.ts';
import { createHttpSource, finite, parseAnswer } from '../http-source.ts';
import type { DatedValue, SeriesSource } from '../source.ts';

const epochSeconds = z.number().int();

const chart = z
  .object({
    meta: z.object({
      symbol: z.string(),
      dataGranularity: z.literal('1d'),
      exchangeTimezoneName: z.string().refine(isTimeZone, 'is not a time zone'),
      regularMarketTime: epochSeconds,
      currentTradingPeriod: z.object({ regular: z.object({ start: epochSeconds, end: epochSeconds }) }),
    }),
    // Both are absent for a range without bars.
    timestamp: z.array(epochSeconds).default([]),
    indicators: z.object({ quote: z.tuple([z.object({ close: z.array(finite.positive().nullable()).default([]) })]) }),
  })
  .refine(({ timestamp, indicators }) => timestamp.length === indicators.quote[0].close.length, {
    message: 'are not as many as the timestamps',
    path: ['indicators', 'quote', 0, 'close'],
  });

const answer = z.object({ chart: z.object({ error: z.null(), result: z.tuple([chart]) }) });
type Chart = z.output<typeof chart>;

/** Daily closes of a symbol, dated in the time zone of its exchange. */
function createYahooSource(symbol: string): SeriesSource {
  return createHttpSource({
    provider: 'yahoo',
    history: { from: '2009-06-01' },
    pageDays: 4_000,
    request: ({ from, to }) => ({
      path: `/v8/finance/chart/${encodeURIComponent(symbol)}`,
      // A day in New York ends on the next day in UTC.
      query: { period1: toInstantMs(from) / 1_000, period2: toInstantMs(to + 2) / 1_000, interval: '1d' },
    }),
    read(body, _range, title, nowMs) {
      const [data] = parseAnswer(answer, body, title).chart.result;
      parseAnswer(z.object({ symbol: z.literal(symbol) }), data.meta, title);
      return toCloses(data, nowMs);
    },
  });
}

export const yahooDxy = createYahooSource('DX-Y.NYB');
export const yahooSp500 = createYahooSource('^GSPC');
export const yahooGold = createYahooSource('GC=F');
export const yahooVix = createYahooSource('^VIX');
export const yahooUs10y = createYahooSource('^TNX');

/** Without bars of Sunday evenings and a New York session that is still open after midnight UTC, which has no close yet. */
function toCloses({ meta, timestamp, indicators }: Chart, nowMs: number): DatedValue[] {
  const dayAt = createZoneDayReader(meta.exchangeTimezoneName);
  const { start, end } = meta.currentTradingPeriod.regular;
  const [running, quoted, today] = [nowMs < end * 1_000 ? dayAt(start) : null, dayAt(meta.regularMarketTime), toDay(nowMs)];
  return timestamp.flatMap((opensAt, index) => {
    const day = dayAt(opensAt);
    const close = indicators.quote[0].close[index];
    if (close === null || !isTradingDay(day) || (day === running && day < today)) return [];
    return [{ day, value: roundFloat32(close), providerAtMs: day === quoted ? meta.regularMarketTime * 1_000 : null }];
  });
}

/** Prices are 32-bit floats with seven significant digits. */
function roundFloat32(price: number): number {
  return Number(price.toPrecision(7));
}

/** Computes dates by time zone: the UTC offset in the response is today's and ignores daylight saving time of earlier dates. */
function createZoneDayReader(timeZone: string): (epochSeconds: number) => Day {
  const isoDate = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return (seconds) => parseDay(isoDate.format(seconds * 1_000));
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-CA', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}
