import { z } from 'zod';
import { DAY_MS, type Day } from '../../../../forecast/day.ts';
import { isUsExchangeDay } from '../../../series/us-calendar.ts';
import { createHttpSource, finite, parseAnswer } from '../http-source.ts';

const MISSING = 'NA';

const series = z
  .object({
    dataset_code: z.literal('pmi'),
    series_code: z.literal('pm'),
    period: z.array(z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'is not a month')),
    value: z.array(finite.positive().max(100).or(z.literal(MISSING)).nullable()),
  })
  .refine(({ period, value }) => period.length === value.length, { message: 'are not as many as the periods', path: ['value'] });

const answer = z.object({ series: z.object({ docs: z.tuple([series]) }) });

/** The ISM manufacturing PMI, dated by its release on the first US exchange day of the following month. */
export const dbnomicsPmi = createHttpSource({
  provider: 'dbnomics',
  history: { from: '2020-06-01' },
  pageDays: 100_000,
  request: () => ({ path: '/v22/series/ISM/pmi/pm', query: { observations: 1 } }),
  read(body, _range, title) {
    const [{ period, value }] = parseAnswer(answer, body, title).series.docs;
    return period.flatMap((month, index) => {
      const pmi = value[index];
      return typeof pmi === 'number' ? [{ day: getReleaseDay(month), value: pmi, providerAtMs: null }] : [];
    });
  },
});

function getReleaseDay(month: string): Day {
  const [year, number] = month.split('-').map(Number);
  let day = Date.UTC(year, number, 1) / DAY_MS;
  while (!isUsExchangeDay(day)) day++;
  return day;
}
