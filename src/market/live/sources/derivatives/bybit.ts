import { z } from 'zod';
import { toDay, toInstantMs } from '../../../../forecast/day.ts';
import type { Provider, ProviderRequest } from '../../providers/provider.ts';
import {
  createCompositeSource,
  createHttpSource,
  epochMs,
  epochMsText,
  type FetchedValues,
  numeric,
  parseAnswer,
  positiveText as positive,
  requireAccepted,
} from '../http-source.ts';
import type { DayRange } from '../source.ts';
import { computeCurrentBasis } from './current-basis.ts';
import { computeDailyFunding } from './daily-funding.ts';

const MARKET = { category: 'linear', symbol: 'BTCUSDT' };
const MAX_ROWS = 200;
const fundingRow = z.object({ fundingRate: numeric, fundingRateTimestamp: epochMsText });
const fundingResult = z.object({
  list: z.array(fundingRow.transform(({ fundingRateTimestamp: atMs, fundingRate: rate }) => ({ atMs, rate }))),
});

export const bybitFunding = createHttpSource({
  provider: 'bybit',
  history: { from: '2020-04-01' },
  // Three fundings a day.
  pageDays: 66,
  daily: true,
  request: (range) => ({ path: '/v5/market/funding/history', query: { ...MARKET, ...buildRangeQuery(range, 'startTime', 'endTime') } }),
  read: (body, _range, title, nowMs) => computeDailyFunding(parseResult(fundingResult, body, title).list, nowMs),
});

const interestResult = z.object({ list: z.array(z.object({ openInterest: positive, timestamp: epochMsText })) });
/** Open time, open, high, low, close, volume and turnover. */
const candlesResult = z.object({ list: z.array(z.tuple([epochMsText, positive], z.unknown())) });

/** Open interest of the BTCUSDT perpetual: bitcoin every four hours, converted to USD with the open of the four-hour candle. */
export const bybitOpenInterest = createCompositeSource({
  provider: 'bybit',
  // No reader looks further back, and a longer history takes many small pages.
  history: { days: 400 },
  // Six values a day.
  pageDays: 33,
  what: 'open interest',
  fetchValues: fetchInterest,
});

async function fetchInterest(provider: Provider, range: DayRange): Promise<FetchedValues> {
  const interestQuery = { ...MARKET, intervalTime: '4h', ...buildRangeQuery(range, 'startTime', 'endTime') };
  const candleQuery = { ...MARKET, interval: '240', ...buildRangeQuery(range, 'start', 'end') };
  const interest = await fetchResult(provider, interestResult, { path: '/v5/market/open-interest', query: interestQuery });
  const { result, nowMs } = await fetchResult(provider, candlesResult, { path: '/v5/market/kline', query: candleQuery });
  const priceAt = new Map(result.list.map(([opensAtMs, openUsd]) => [opensAtMs, openUsd]));
  const values = interest.result.list.flatMap(({ openInterest, timestamp }) => {
    const priceUsd = priceAt.get(timestamp);
    return priceUsd === undefined ? [] : [{ day: toDay(timestamp), value: openInterest * priceUsd, providerAtMs: timestamp }];
  });
  return { values, nowMs };
}

const tickersResult = z.object({ list: z.tuple([z.object({ markPrice: positive, indexPrice: positive })]) });
const clock = z.object({ time: epochMs });

export const bybitBasis = createHttpSource({
  provider: 'bybit',
  history: { days: 0 },
  pageDays: 1,
  request: () => ({ path: '/v5/market/tickers', query: MARKET }),
  read: (body, _range, title, nowMs) => {
    const [{ markPrice: markUsd, indexPrice: indexUsd }] = parseResult(tickersResult, body, title).list;
    return computeCurrentBasis({ markUsd, indexUsd, atMs: parseAnswer(clock, body, title).time }, title, nowMs);
  },
});

function buildRangeQuery({ from, to }: DayRange, start: string, end: string): Record<string, number> {
  return { [start]: toInstantMs(from), [end]: toInstantMs(to + 1) - 1, limit: MAX_ROWS };
}

async function fetchResult<Schema extends z.ZodType>(provider: Provider, schema: Schema, request: ProviderRequest) {
  const { body, receivedAtMs } = await provider.request(request);
  return { result: parseResult(schema, body, provider.title), nowMs: receivedAtMs };
}

function parseResult<Schema extends z.ZodType>(schema: Schema, body: unknown, title: string): z.output<Schema> {
  requireAccepted(parseAnswer(z.object({ retCode: z.number() }), body, title).retCode, 0, title);
  return parseAnswer(schema, parseAnswer(z.object({ result: z.unknown() }), body, title).result, title);
}
