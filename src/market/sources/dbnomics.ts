import { z } from 'zod';
import { DAY_MS, type Day } from '../../forecast/day.ts';
import { isUsExchangeDay } from '../series.ts';
import { createHttpSource, finite, parseAnswer, requireUsable } from './source.ts';

const MISSING = 'NA';

const series = z
  .object({
    dataset_code: z.literal('pmi'),
    series_code: z.literal('pm'),
    period: z.array(z.unknown()),
    value: z.array(z.unknown()),
  })
  .refine(({ period, value }) => period.length === value.length, { message: 'are not as many as the periods', path: ['value'] });

const month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'is not a month');
const figure = finite.positive().max(100).or(z.literal(MISSING)).nullable();
const answer = z.object({ series: z.object({ docs: z.tuple([series]) }) });

/** The ISM manufacturing PMI, dated by its release. */
export const dbnomicsPmi = createHttpSource({
  provider: 'dbnomics',
  history: { from: '2020-06-01' },
  pageDays: 100_000,
  request: () => ({ path: '/v22/series/ISM/pmi/pm', query: { observations: 1 } }),
  read(body, _range, reader) {
    const [{ period, value }] = parseAnswer(answer, body, reader.title).series.docs;
    const figures = requireUsable(period, reader, (name, index) => ({
      releaseDay: getReleaseDay(parseAnswer(month, name, reader.title, ['series', 'docs', 0, 'period', index])),
      pmi: parseAnswer(figure, value[index], reader.title, ['series', 'docs', 0, 'value', index]),
    }));
    return figures.flatMap(({ releaseDay, pmi }) => (typeof pmi === 'number' ? [{ day: releaseDay, value: pmi, providerAtMs: null }] : []));
  },
});

/** Days of the month of the releases from January to December by ISM's calendar, the first of a year being of the December before. */
const RELEASES: Record<number, readonly number[]> = {
  2020: [3, 3, 2, 1, 1, 1, 1, 3, 1, 1, 2, 1],
  2021: [5, 1, 1, 1, 3, 1, 1, 2, 1, 1, 1, 1],
  2022: [4, 1, 1, 1, 2, 1, 1, 1, 1, 3, 1, 1],
  2023: [4, 1, 1, 3, 1, 1, 3, 1, 1, 2, 1, 1],
  2024: [3, 1, 1, 1, 1, 3, 1, 1, 3, 1, 1, 2],
  2025: [3, 3, 3, 1, 1, 2, 1, 1, 2, 1, 3, 1],
  2026: [5, 2, 2, 1, 1, 1, 1, 3, 1, 1, 2, 1],
};

/** Without a calendar, one exchange day after the usual release, which is on the first of a month and in January on the second. */
function getReleaseDay(name: string): Day {
  const [year, number] = name.split('-').map(Number);
  const first = Date.UTC(year, number, 1) / DAY_MS;
  const isJanuary = number === 12;
  const listed = RELEASES[isJanuary ? year + 1 : year]?.[number % 12];
  if (listed !== undefined) return first + listed - 1;
  return Array.from({ length: 15 }, (_, index) => first + index).filter(isUsExchangeDay)[isJanuary ? 2 : 1];
}
