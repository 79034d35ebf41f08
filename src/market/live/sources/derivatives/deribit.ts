import { z } from 'zod';
import { toDay, toInstantMs } from '../../../../forecast/day.ts';
import type { Provider } from '../../providers/provider.ts';
import { createCompositeSource, createHttpSource, epochMs, type FetchedValues, parseAnswer, positive } from '../http-source.ts';
import type { DatedValue, DayRange } from '../source.ts';
import { computeCurrentBasis } from './current-basis.ts';

const dvolAnswer = z.object({
  result: z.object({
    /** Open time, open, high, low and close. */
    data: z.array(z.tuple([epochMs, positive, positive, positive, positive])),
    continuation: epochMs.nullable(),
  }),
});

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
    values.push(...result.data.map(([opensAtMs, , , , close]) => ({ day: toDay(opensAtMs), value: close, providerAtMs: opensAtMs })));
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
  read: (body, _range, title, nowMs) => {
    const { mark_price: markUsd, index_price: indexUsd, timestamp: atMs } = parseAnswer(tickerAnswer, body, title).result;
    return computeCurrentBasis({ markUsd, indexUsd, atMs }, title, nowMs);
  },
});
