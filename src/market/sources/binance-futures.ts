import { z } from 'zod';
import { toDay, toInstantMs } from '../../forecast/day.ts';
import { createFundingSource } from './derivatives.ts';
import { createHttpSource, type DayRange, epochMs, epochMsText, numeric, parseAnswer, parseRows, positiveText } from './source.ts';

const SYMBOL = 'BTCUSDT';

const MAX_FUNDINGS = 1_000;
const fundingRow = z
  .object({ fundingRate: numeric, fundingTime: epochMs })
  .transform(({ fundingTime: atMs, fundingRate: rate }) => ({ atMs, rate }));

export const binanceFunding = createFundingSource({
  provider: 'binance-futures',
  history: { from: '2019-09-11' },
  // Few enough for hourly fundings within one call.
  pageDays: 166,
  maxRows: MAX_FUNDINGS,
  order: 'oldest',
  request: (startTime, endMs) => ({
    path: '/fapi/v1/fundingRate',
    query: { symbol: SYMBOL, startTime, endTime: endMs - 1, limit: MAX_FUNDINGS },
  }),
  list: (body, title) => ({ rows: parseAnswer(z.array(z.unknown()), body, title), path: [] }),
  row: fundingRow,
});

// A string in the documentation, a number in responses.
const timestamp = epochMs.or(epochMsText);
const interestRow = z.object({ sumOpenInterestValue: positiveText, timestamp });

/** Open interest of the BTCUSDT perpetual every four hours; Binance retains 30 days. */
export const binanceOpenInterest = createHttpSource({
  provider: 'binance-futures',
  history: { days: 29 },
  pageDays: 30,
  daily: true,
  request: (range) => ({ path: '/futures/data/openInterestHist', query: { period: '4h', ...buildRangeQuery(range), limit: 500 } }),
  read: (body, _range, reader) =>
    parseRows(interestRow, parseAnswer(z.array(z.unknown()), body, reader.title), reader).map(
      ({ sumOpenInterestValue: value, timestamp: atMs }) => ({ day: toDay(atMs), value, providerAtMs: atMs }),
    ),
});

function buildRangeQuery({ from, to }: DayRange) {
  return { symbol: SYMBOL, startTime: toInstantMs(from), endTime: toInstantMs(to + 1) - 1 };
}
