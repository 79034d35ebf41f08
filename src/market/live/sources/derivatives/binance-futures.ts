import { z } from 'zod';
import { toDay, toInstantMs } from '../../../../forecast/day.ts';
import { createHttpSource, epochMs, epochMsText, numeric, parseAnswer, positiveText } from '../http-source.ts';
import type { DayRange } from '../source.ts';
import { computeDailyFunding } from './daily-funding.ts';

const fundingRow = z.object({ fundingRate: numeric, fundingTime: epochMs });
const fundingRows = z.array(fundingRow.transform(({ fundingTime: atMs, fundingRate: rate }) => ({ atMs, rate })));

export const binanceFunding = createHttpSource({
  provider: 'binance-futures',
  history: { from: '2019-09-11' },
  // Three fundings a day: the limit of 1,000 rows covers 333 days.
  pageDays: 333,
  daily: true,
  request: (range) => ({ path: '/fapi/v1/fundingRate', query: { ...buildRangeQuery(range), limit: 1000 } }),
  read: (body, _range, title, nowMs) => computeDailyFunding(parseAnswer(fundingRows, body, title), nowMs),
});

// A string in the documentation, a number in responses.
const timestamp = epochMs.or(epochMsText);
const interestRow = z.object({ sumOpenInterestValue: positiveText, timestamp });
const interestRows = z.array(
  interestRow.transform(({ sumOpenInterestValue: value, timestamp: atMs }) => ({ day: toDay(atMs), value, providerAtMs: atMs })),
);

/** Open interest of the BTCUSDT perpetual every four hours; Binance retains 30 days. */
export const binanceOpenInterest = createHttpSource({
  provider: 'binance-futures',
  history: { days: 29 },
  pageDays: 30,
  daily: true,
  request: (range) => ({ path: '/futures/data/openInterestHist', query: { period: '4h', ...buildRangeQuery(range), limit: 500 } }),
  read: (body, _range, title) => parseAnswer(interestRows, body, title),
});

function buildRangeQuery({ from, to }: DayRange) {
  return { symbol: 'BTCUSDT', startTime: toInstantMs(from), endTime: toInstantMs(to + 1) - 1 };
}
