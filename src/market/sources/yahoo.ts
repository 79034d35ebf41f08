import { z } from 'zod';
import { type Day, parseDay, toDay, toInstantMs } from '../../forecast/day.ts';
import { isTradingDay } from '../series.ts';
import { createHttpSource, type DatedValue, parseAnswer, positive, type RowReader, requireUsable, type SeriesSource } from './source.ts';

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
    timestamp: z.array(z.unknown()).default([]),
    indicators: z.object({ quote: z.tuple([z.object({ close: z.array(z.unknown()).default([]) })]) }),
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
    read(body, _range, reader, nowMs) {
      const [data] = parseAnswer(answer, body, reader.title).chart.result;
      parseAnswer(z.object({ symbol: z.literal(symbol) }), data.meta, reader.title);
      return toCloses(data, reader, nowMs);
    },
  });
}

export const yahoo = {
  dxy: createYahooSource('DX-Y.NYB'),
  sp500: createYahooSource('^GSPC'),
  gold: createYahooSource('GC=F'),
  vix: createYahooSource('^VIX'),
  us10y: createYahooSource('^TNX'),
};

/** Without bars of Sunday evenings and a New York session that is still open after midnight UTC, which has no close yet. */
function toCloses({ meta, timestamp, indicators }: Chart, reader: RowReader, nowMs: number): DatedValue[] {
  const dayAt = createZoneDayReader(meta.exchangeTimezoneName);
  const { start, end } = meta.currentTradingPeriod.regular;
  const [running, quoted, today] = [nowMs < end * 1_000 ? dayAt(start) : null, dayAt(meta.regularMarketTime), toDay(nowMs)];
  const path = ['chart', 'result', 0];
  const closePath = [...path, 'indicators', 'quote', 0, 'close'];
  const bars = requireUsable(timestamp, reader, (time, index) => {
    const close = parseAnswer(positive.nullable(), indicators.quote[0].close[index], reader.title, [...closePath, index]);
    return { opensAt: parseAnswer(epochSeconds, time, reader.title, [...path, 'timestamp', index]), close };
  });
  return bars.flatMap(({ opensAt, close }) => {
    const day = dayAt(opensAt);
    if (close === null || !isTradingDay(day) || (day === running && day < today)) return [];
    // Prices are 32-bit floats with seven significant digits.
    return [{ day, value: Number(close.toPrecision(7)), providerAtMs: day === quoted ? meta.regularMarketTime * 1_000 : null }];
  });
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
