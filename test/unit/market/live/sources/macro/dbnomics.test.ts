import { describe, expect, it } from 'vitest';
import { formatDay, parseDay, toInstantMs } from '../../../../../../src/forecast/day.ts';
import { dbnomicsPmi } from '../../../../../../src/market/live/sources/macro/dbnomics.ts';
import { describeWithShared } from '../../../../../support/record/shared.ts';
import { readSample, withArrivalTime } from '../recorded-answers.ts';
import { createAnsweringProvider, TODAY } from '../test-providers.ts';

const range = { from: parseDay('2024-01-01'), to: TODAY };
const body = (period: unknown, value: unknown, code = 'pm') => ({
  series: { docs: [{ provider_code: 'ISM', dataset_code: 'pmi', series_code: code, period, value }] },
});
const fetchFrom = (answer: unknown) => dbnomicsPmi.fetch(createAnsweringProvider('dbnomics', answer), range);

describe('dbnomicsPmi', () => {
  it.each([
    ['2023-12', '2024-01-02'],
    ['2024-08', '2024-09-03'],
    ['2024-10', '2024-11-01'],
    ['2025-01', '2025-02-03'],
    ['2025-12', '2026-01-02'],
  ])('dates the figure of %s by its release on %s', async (month, release) => {
    expect((await fetchFrom(body([month], [51.5]))).map(({ day, value }) => [formatDay(day), value])).toEqual([[release, 51.5]]);
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
  it('are parsed from a recorded response', async () => {
    const recorded = readSample('dbnomics_ism_pmi.json');
    const [{ period, value }] = recorded.series.docs;
    const after = parseDay(`${period.at(-1)}-15`);
    const provider = withArrivalTime(toInstantMs(after), createAnsweringProvider('dbnomics', recorded));
    expect((await dbnomicsPmi.fetch(provider, { from: 0, to: after })).map((entry) => entry.value)).toEqual([value[0]]);
  });
});
