import { z } from 'zod';
import { toDay, toInstantMs } from '../../forecast/day.ts';
import type { Provider } from '../live/provider.ts';
import { computeCurrentBasis } from './derivatives.ts';
import {
  createCompositeSource,
  createHttpSource,
  type DatedValue,
  type DayRange,
  epochMs,
  type FetchedValues,
  parseAnswer,
  parseRows,
  positive,
} from './source.ts';

const dvolAnswer = z.object({
  result: z.object({
    data: z.array(z.unknown()),
    continuation: epochMs.nullable(),
  }),
});

/** Open time, open, high, low and close. */
const dvolRow = z.tuple([epochMs, positive, positive, positive, positive]);

/** Closes of the implied volatility index; today's is the latest value. */
export const deribitDvol = createCompositeSource({
  provider: 'deribit',
  history: { from: '2021-03-24' },
  pageDays: 1000,
  what: 'volatility index',
  fetchValues: fetchAllCandles,
});

/** Deribit returns the newest part of a range and the end of the next older part. */
async function fetchAllCandles(provider: Provider, { from, to }: DayRange): Promise<FetchedValues> {
  const values: DatedValue[] = [];
  const startMs = toInstantMs(from);
  let endMs: number | null = toInstantMs(to + 1) - 1;
  let nowMs = 0;
  while (endMs !== null && endMs >= startMs) {
    const { body, receivedAtMs } = await provider.request({
      path: '/api/v2/public/get_volatility_index_data',
      query: { currency: 'BTC', start_timestamp: startMs, end_timestamp: endMs, resolution: '1D' },
    });
    const { result } = parseAnswer(dvolAnswer, body, provider.title);
    nowMs = receivedAtMs;
    const rows = parseRows(dvolRow, result.data, provider, ['result', 'data']);
    values.push(...rows.map(([opensAtMs, , , , close]) => ({ day: toDay(opensAtMs), value: close, providerAtMs: opensAtMs })));
    endMs = result.continuation !== null && result.continuation < endMs ? result.continuation : null;
  }
  return { values, nowMs };
}

const tickerAnswer = z.object({ result: z.object({ mark_price: positive, index_price: positive, timestamp: epochMs }) });

export const deribitBasis = createHttpSource({
  provider: 'deribit',
  history: { days: 0 },
  pageDays: 1,
  request: () => ({ path: '/api/v2/public/ticker', query: { instrument_name: 'BTC-PERPETUAL' } }),
  read: (body, _range, { title }, nowMs) => {
    const { mark_price: markUsd, index_price: indexUsd, timestamp: atMs } = parseAnswer(tickerAnswer, body, title).result;
    return computeCurrentBasis({ markUsd, indexUsd, atMs }, title, nowMs);
  },
});
