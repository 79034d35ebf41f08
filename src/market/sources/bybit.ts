import { z } from 'zod';
import { toDay, toInstantMs } from '../../forecast/day.ts';
import type { Provider, ProviderRequest } from '../live/provider.ts';
import { computeCurrentBasis, createFundingSource } from './derivatives.ts';
import {
  createCompositeSource,
  createHttpSource,
  type DayRange,
  epochMs,
  epochMsText,
  type FetchedValues,
  numeric,
  parseAnswer,
  parseRows,
  positiveText as positive,
  requireAccepted,
} from './source.ts';

const MARKET = { category: 'linear', symbol: 'BTCUSDT' };
const MAX_ROWS = 200;
const listResult = z.object({ list: z.array(z.unknown()) });
const fundingRow = z
  .object({ fundingRate: numeric, fundingRateTimestamp: epochMsText })
  .transform(({ fundingRateTimestamp: atMs, fundingRate: rate }) => ({ atMs, rate }));

export const bybitFunding = createFundingSource({
  provider: 'bybit',
  history: { from: '2020-04-01' },
  pageDays: 66,
  maxRows: MAX_ROWS,
  order: 'newest',
  request: (startTime, endMs) => ({
    path: '/v5/market/funding/history',
    query: { ...MARKET, startTime, endTime: endMs - 1, limit: MAX_ROWS },
  }),
  list: (body, title) => ({ rows: parseResult(listResult, body, title).list, path: ['list'] }),
  row: fundingRow,
});

const interestRow = z.object({ openInterest: positive, timestamp: epochMsText });
/** Open time, open, high, low, close, volume and turnover. */
const candleRow = z.tuple([epochMsText, positive], z.unknown());

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
  const interest = await fetchList(provider, interestRow, { path: '/v5/market/open-interest', query: interestQuery });
  const { list, nowMs } = await fetchList(provider, candleRow, { path: '/v5/market/kline', query: candleQuery });
  const priceAt = new Map(list.map(([opensAtMs, openUsd]) => [opensAtMs, openUsd]));
  const values = interest.list.flatMap(({ openInterest, timestamp }) => {
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
  read: (body, _range, { title }, nowMs) => {
    const [{ markPrice: markUsd, indexPrice: indexUsd }] = parseResult(tickersResult, body, title).list;
    return computeCurrentBasis({ markUsd, indexUsd, atMs: parseAnswer(clock, body, title).time }, title, nowMs);
  },
});

function buildRangeQuery({ from, to }: DayRange, start: string, end: string): Record<string, number> {
  return { [start]: toInstantMs(from), [end]: toInstantMs(to + 1) - 1, limit: MAX_ROWS };
}

async function fetchList<Schema extends z.ZodType>(provider: Provider, row: Schema, request: ProviderRequest) {
  const { body, receivedAtMs } = await provider.request(request);
  return { list: parseRows(row, parseResult(listResult, body, provider.title).list, provider, ['list']), nowMs: receivedAtMs };
}

function parseResult<Schema extends z.ZodType>(schema: Schema, body: unknown, title: string): z.output<Schema> {
  requireAccepted(parseAnswer(z.object({ retCode: z.number() }), body, title).retCode, 0, title);
  return parseAnswer(schema, parseAnswer(z.object({ result: z.unknown() }), body, title).result, title);
}
