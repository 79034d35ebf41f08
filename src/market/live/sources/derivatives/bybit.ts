import { z } from 'zod';
import { toDay, toInstantMs } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { Provider, ProviderRequest } from '../../providers/provider.ts';
import { createHttpSource, epochMs, epochMsText, numeric, parseAnswer, requireFinishedDay, selectWithinRange } from '../http-source.ts';
import type { DatedValue, DayRange, SeriesSource } from '../source.ts';
import { computeCurrentBasis } from './current-basis.ts';
import { computeDailyFunding } from './daily-funding.ts';

const MARKET = { category: 'linear', symbol: 'BTCUSDT' };
const MAX_ROWS = 200;

const positive = numeric.pipe(z.number().positive());

const fundingResult = z.object({ list: z.array(z.object({ fundingRate: numeric, fundingRateTimestamp: epochMsText })) });

/** Funding of the BTCUSDT perpetual. */
export const bybitFunding = createHttpSource({
  provider: 'bybit',
  history: { from: '2020-04-01' },
  // Three fundings a day.
  pageDays: 66,
  daily: true,
  request: (range) => ({ path: '/v5/market/funding/history', query: { ...MARKET, ...buildRangeQuery(range, 'startTime', 'endTime') } }),
  read: (body, _range, title, nowMs) => {
    const { list } = parseResult(fundingResult, body, title);
    return computeDailyFunding(
      list.map(({ fundingRate, fundingRateTimestamp }) => ({ atMs: fundingRateTimestamp, rate: fundingRate })),
      nowMs,
    );
  },
});

/** Nothing looks further back, and longer histories come in many small pieces. */
const INTEREST_HISTORY = { days: 400 };

const interestResult = z.object({ list: z.array(z.object({ openInterest: positive, timestamp: epochMsText })) });

/** Open time, open, high, low, close, volume and turnover. */
const candlesResult = z.object({ list: z.array(z.tuple([epochMsText, positive], z.unknown())) });

/**
 * Open interest of the BTCUSDT perpetual. Bybit counts it in bitcoin, every four hours; each count is worth the price at its
 * instant, at which a four-hour candle opens.
 */
export const bybitOpenInterest: SeriesSource = {
  provider: 'bybit',
  history: INTEREST_HISTORY,
  // Six counts a day.
  pageDays: 33,
  fetch: (provider, range) => provider.call('open interest', () => fetchInterest(provider, range)),
};

async function fetchInterest(provider: Provider, range: DayRange): Promise<DatedValue[]> {
  const { title } = provider;
  const interestQuery = { ...MARKET, intervalTime: '4h', ...buildRangeQuery(range, 'startTime', 'endTime') };
  const candleQuery = { ...MARKET, interval: '240', ...buildRangeQuery(range, 'start', 'end') };
  const interest = await fetchResult(provider, interestResult, { path: '/v5/market/open-interest', query: interestQuery });
  const { result, nowMs } = await fetchResult(provider, candlesResult, { path: '/v5/market/kline', query: candleQuery });
  const priceAt = new Map(result.list.map(([opensAtMs, openUsd]) => [opensAtMs, openUsd]));
  const values = selectWithinRange(toUsdValues(interest.result.list, priceAt), range, title, nowMs);
  requireFinishedDay(values, range, { history: INTEREST_HISTORY, title, nowMs });
  return values;
}

/** A count without a price of its instant is left out. */
function toUsdValues(counts: z.output<typeof interestResult>['list'], priceAt: ReadonlyMap<number, number>): DatedValue[] {
  return counts.flatMap(({ openInterest, timestamp }) => {
    const priceUsd = priceAt.get(timestamp);
    return priceUsd === undefined ? [] : [{ day: toDay(timestamp), value: openInterest * priceUsd, providerAtMs: timestamp }];
  });
}

const tickersResult = z.object({ list: z.tuple([z.object({ markPrice: positive, indexPrice: positive })]) });
const clock = z.object({ time: epochMs });

/** Basis of the BTCUSDT perpetual, of this moment only. */
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

/** Bybit refuses with status 200 and a code. */
function parseResult<Schema extends z.ZodType>(schema: Schema, body: unknown, title: string): z.output<Schema> {
  const { retCode } = parseAnswer(z.object({ retCode: z.number() }), body, title);
  if (retCode !== 0) throw new OracleError('FEED_UNAVAILABLE', `${title}: refused with code ${retCode}`);
  return parseAnswer(schema, parseAnswer(z.object({ result: z.unknown() }), body, title).result, title);
}
