import { z } from 'zod';
import { type Day, dayOf, instantOf, parseDay } from '../../../forecast/day.ts';
import { isTradingDay } from '../../us-calendar.ts';
import type { DatedValue, SeriesSource } from '../source.ts';
import { finite, httpSource, parseAnswer } from './http-source.ts';

const epochSeconds = z.number().int();

const chart = z
  .object({
    meta: z.object({
      symbol: z.string(),
      dataGranularity: z.literal('1d'),
      exchangeTimezoneName: z.string().refine(isTimeZone, 'is no time zone'),
      regularMarketTime: epochSeconds,
      currentTradingPeriod: z.object({ regular: z.object({ start: epochSeconds, end: epochSeconds }) }),
    }),
    // Neither is there where a range has no bars.
    timestamp: z.array(epochSeconds).default([]),
    indicators: z.object({ quote: z.tuple([z.object({ close: z.array(finite.positive().nullable()).default([]) })]) }),
  })
  .refine(({ timestamp, indicators }) => timestamp.length === indicators.quote[0].close.length, {
    message: 'are not as many as the timestamps',
    path: ['indicators', 'quote', 0, 'close'],
  });

const answer = z.object({ chart: z.object({ error: z.null(), result: z.tuple([chart]) }) });

type Chart = z.output<typeof chart>;

/** Daily closes of a symbol, dated by the day at its exchange. */
function yahooCloses(symbol: string): SeriesSource {
  return httpSource({
    provider: 'yahoo',
    history: { from: '2009-06-01' },
    pageDays: 4_000,
    request: ({ from, to }) => ({
      path: `/v8/finance/chart/${encodeURIComponent(symbol)}`,
      // A day in New York ends on the next day in UTC.
      query: { period1: instantOf(from) / 1_000, period2: instantOf(to + 2) / 1_000, interval: '1d' },
    }),
    read(body, _range, title, nowMs) {
      const [told] = parseAnswer(answer, body, title).chart.result;
      parseAnswer(z.object({ symbol: z.literal(symbol) }), told.meta, title);
      return closesOf(told, nowMs);
    },
  });
}

export const yahooDxy = yahooCloses('DX-Y.NYB');
export const yahooSp500 = yahooCloses('^GSPC');
export const yahooGold = yahooCloses('GC=F');
export const yahooVix = yahooCloses('^VIX');
export const yahooUs10y = yahooCloses('^TNX');

/**
 * The closes of the days on which something was traded. Sunday evenings are no days, though they have bars; and a session that goes on
 * in New York after midnight UTC has no close yet, though its day is over here.
 */
function closesOf({ meta, timestamp, indicators }: Chart, nowMs: number): DatedValue[] {
  const dayAt = dayInZone(meta.exchangeTimezoneName);
  const { start, end } = meta.currentTradingPeriod.regular;
  const [running, quoted, today] = [nowMs < end * 1_000 ? dayAt(start) : null, dayAt(meta.regularMarketTime), dayOf(nowMs)];
  return timestamp.flatMap((opensAt, index) => {
    const day = dayAt(opensAt);
    const close = indicators.quote[0].close[index];
    if (close === null || !isTradingDay(day) || (day === running && day < today)) return [];
    return [{ day, value: asTold(close), providerAtMs: day === quoted ? meta.regularMarketTime * 1_000 : null }];
  });
}

/** Prices are 32-bit floats, of which seven digits are meant. */
function asTold(price: number): number {
  return Number(price.toPrecision(7));
}

/** The date at an exchange. The offset that comes with an answer is that of today, not of the summers and winters before. */
function dayInZone(timeZone: string): (epochSeconds: number) => Day {
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
