import { z } from 'zod';
import { toDay } from '../../forecast/day.ts';
import type { Provider } from '../live/provider.ts';
import { createCompositeSource, type DayRange, type FetchedValues, numeric, parseAnswer, parseRows } from './source.ts';

/** The newest entry is of today or yesterday, whatever the end of the range. */
const SPARE_DAYS = 2;
const WHOLE_HISTORY = 0;

const answerSchema = z.object({ metadata: z.object({ error: z.null() }), data: z.array(z.unknown()) });
const rowSchema = z.object({
  value: numeric.pipe(z.number().int().min(0).max(100)),
  /** Seconds. */
  timestamp: numeric.pipe(z.number().int().positive()),
});

/** The crypto Fear & Greed index, dated by the UTC day of its publication. */
export const alternativeMeFearGreed = createCompositeSource({
  provider: 'alternative-me',
  history: { from: '2018-02-01' },
  pageDays: 10_000,
  what: 'index',
  async fetchValues(provider, range: DayRange) {
    const newest = await fetchNewest(provider, range.to - range.from + 1 + SPARE_DAYS);
    const reachesBack = newest.values.some(({ day }) => day <= range.from);
    return reachesBack ? newest : fetchNewest(provider, WHOLE_HISTORY);
  },
});

async function fetchNewest(provider: Provider, limit: number): Promise<FetchedValues> {
  const { body, receivedAtMs: nowMs } = await provider.request({ path: '/fng/', query: { limit, format: 'json' } });
  const rows = parseRows(rowSchema, parseAnswer(answerSchema, body, provider.title).data, provider, ['data']);
  const values = rows.map(({ value, timestamp }) => ({ day: toDay(timestamp * 1_000), value, providerAtMs: timestamp * 1_000 }));
  return { values, nowMs };
}
