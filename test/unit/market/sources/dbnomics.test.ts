import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DAY_MS, formatDay, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { isUsExchangeDay } from '../../../../src/market/series.ts';
import { dbnomicsPmi } from '../../../../src/market/sources/dbnomics.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';
import { readSample, withArrivalTime } from './recorded-answers.ts';
import { createAnsweringProvider, TODAY } from './test-providers.ts';

const range = { from: parseDay('2020-01-01'), to: TODAY };
const body = (period: unknown, value: unknown, code = 'pm') => ({
  series: { docs: [{ provider_code: 'ISM', dataset_code: 'pmi', series_code: code, period, value }] },
});
const fetchFrom = (answer: unknown) => dbnomicsPmi.fetch(createAnsweringProvider('dbnomics', answer), range);

describe('dbnomicsPmi', () => {
  it.each([
    ['2020-05', '2020-06-01'],
    ['2020-12', '2021-01-05'],
    ['2021-12', '2022-01-04'],
    ['2022-12', '2023-01-04'],
    ['2023-12', '2024-01-03'],
    ['2024-12', '2025-01-03'],
    ['2026-01', '2026-02-02'],
    ['2024-08', '2024-09-03'],
    ['2024-10', '2024-11-01'],
    ['2025-01', '2025-02-03'],
    ['2025-12', '2026-01-05'],
  ])('dates the figure of %s by its release on %s', async (month, release) => {
    expect((await fetchFrom(body([month], [51.5]))).map(({ day, value }) => [formatDay(day), value])).toEqual([[release, 51.5]]);
  });

  it('dates a figure beyond the calendar by the second exchange day of the month, in January by the third', async () => {
    const answer = body(['2026-12', '2027-01', '2027-06'], [51, 52, 53]);
    const provider = withArrivalTime(toInstantMs(parseDay('2027-08-01')), createAnsweringProvider('dbnomics', answer));
    const figures = await dbnomicsPmi.fetch(provider, { from: range.from, to: parseDay('2027-08-01') });
    expect(figures.map(({ day }) => formatDay(day))).toEqual(['2027-01-06', '2027-02-02', '2027-07-02']);
  });

  it('excludes months without a figure', async () => {
    expect(await fetchFrom(body(['2025-06', '2025-07', '2025-08'], [49, null, 'NA']))).toHaveLength(1);
  });

  it('returns nothing for an empty response', async () => {
    expect(await fetchFrom(body([], []))).toEqual([]);
  });

  it.each([
    ['figures in strings', body(['2025-06'], ['49.0']), 'series.docs.0.value.0'],
    ['a figure beyond the scale', body(['2025-06'], [149]), 'series.docs.0.value.0'],
    ['an impossible month', body(['2025-13'], [49]), 'series.docs.0.period.0'],
    ['another period', body(['2025-Q2'], [49]), 'series.docs.0.period.0'],
    ['fewer figures than months', body(['2025-06', '2025-07'], [49]), 'series.docs.0.value'],
    ['another series', body(['2025-06'], [49], 'nmi'), 'series.docs.0.series_code'],
    ['no series', { series: { docs: [] } }, 'series.docs'],
    ['another shape', { docs: [] }, 'series'],
    ['a figure of the future', body(['2026-04'], [49]), 'date'],
  ])('throws FEED_INVALID for %s', async (_, answer, field) => {
    await expect(fetchFrom(answer)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field,
      message: expect.stringContaining(`DBnomics: ${field} `),
    });
  });
});

describeWithShared('figures as recorded', () => {
  it('are never dated earlier than the first exchange day, and known by the day on which the reference has them', async () => {
    const rows = readFileSync(sharedPath('data/ism_manufacturing_pmi_monthly.csv'), 'utf8').trim().split('\n').slice(1);
    const known = rows.map((row) => row.split(',')).filter(([month, , , release]) => release !== '' && month >= '2020-05');
    const answer = body(
      known.map(([month]) => month.slice(0, 7)),
      known.map(([, , print]) => Number(print)),
    );
    const figures = await dbnomicsPmi.fetch(createAnsweringProvider('dbnomics', answer), { from: parseDay('2020-06-01'), to: TODAY });
    expect(figures).toHaveLength(known.length);
    for (const [index, { day }] of figures.entries()) {
      const [month, , , release] = known[index];
      const [year, number] = month.split('-').map(Number);
      // The reference has a figure from the exchange day after its release on, later around holidays.
      const reference = parseDay(release);
      expect(day, month).toBeLessThan(reference);
      expect(day, month).toBeGreaterThanOrEqual(Date.UTC(year, number, number === 12 ? 3 : 1) / DAY_MS);
      const between = Array.from({ length: reference - day - 1 }, (_, ahead) => day + 1 + ahead).filter(isUsExchangeDay);
      expect(between.length, month).toBeLessThanOrEqual(3);
    }
  });

  it('are parsed from a recorded response', async () => {
    const recorded = readSample('dbnomics_ism_pmi.json');
    const [{ period, value }] = recorded.series.docs;
    const after = parseDay(`${period.at(-1)}-15`);
    const provider = withArrivalTime(toInstantMs(after), createAnsweringProvider('dbnomics', recorded));
    expect((await dbnomicsPmi.fetch(provider, { from: 0, to: after })).map((entry) => entry.value)).toEqual([value[0]]);
  });
});
