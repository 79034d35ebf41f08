import { z } from 'zod';
import { toDay } from '../../../../forecast/day.ts';
import type { Provider } from '../../providers/provider.ts';
import { numeric, parseAnswer, requireFinishedDay, selectWithinRange } from '../http-source.ts';
import type { DatedValue, DayRange, SeriesSource } from '../source.ts';

const HISTORY = { from: '2018-02-01' };
/** The newest entries are of today or yesterday, wherever a range ends. */
const SPARE_DAYS = 2;
const WHOLE_HISTORY = 0;

const answerSchema = z.object({
  metadata: z.object({ error: z.null() }),
  data: z.array(
    z.object({
      value: numeric.pipe(z.number().int().min(0).max(100)),
      /** Seconds. */
      timestamp: numeric.pipe(z.number().int().positive()),
    }),
  ),
});

/** The crypto Fear & Greed index, dated by the UTC day that it was made on. */
export const alternativeMeFearGreed: SeriesSource = {
  provider: 'alternative-me',
  history: HISTORY,
  pageDays: 10_000,
  // An answer that cannot be read is a failure of the provider, too.
  fetch: (provider, range) => provider.call('index', () => fetchIndex(provider, range)),
};

async function fetchIndex(provider: Provider, range: DayRange): Promise<DatedValue[]> {
  let { told: datedValues, nowMs } = await fetchNewest(provider, range.to - range.from + 1 + SPARE_DAYS);
  const reachesBack = datedValues.some(({ day }) => day <= range.from);
  if (!reachesBack) ({ told: datedValues, nowMs } = await fetchNewest(provider, WHOLE_HISTORY));
  const values = selectWithinRange(datedValues, range, provider.title, nowMs);
  requireFinishedDay(values, range, { history: HISTORY, title: provider.title, nowMs });
  return values;
}

async function fetchNewest(provider: Provider, limit: number): Promise<{ told: DatedValue[]; nowMs: number }> {
  const { body, receivedAtMs } = await provider.request({ path: '/fng/', query: { limit, format: 'json' } });
  const { data } = parseAnswer(answerSchema, body, provider.title);
  const datedValues = data.map(({ value, timestamp }) => ({ day: toDay(timestamp * 1_000), value, providerAtMs: timestamp * 1_000 }));
  return { told: datedValues, nowMs: receivedAtMs };
}
