import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../../src/forecast/day.ts';
import { fred } from '../../../../src/market/sources/fred.ts';
import { describeWithShared } from '../../../support/record/shared.ts';
import { readSampleText } from './recorded-answers.ts';
import { createAnsweringProvider, TODAY } from './test-providers.ts';

const range = { from: parseDay('2026-02-10'), to: parseDay('2026-02-17') };
const csv = (...lines: string[]) => ['observation_date,DGS10', ...lines, ''].join('\n');
const fetchFrom = (text: unknown) => fred.us10y.fetch(createAnsweringProvider('fred', text), range);

describe('FRED observations', () => {
  it('are parsed, without days that have no value', async () => {
    const text = csv('2026-02-12,4.25', '2026-02-13,', '2026-02-16,.', '2026-02-17,-0.1');
    expect(await fetchFrom(text)).toEqual([
      { day: parseDay('2026-02-12'), value: 4.25, providerAtMs: null },
      { day: parseDay('2026-02-17'), value: -0.1, providerAtMs: null },
    ]);
  });

  it('are parsed with CRLF line ends', async () => {
    expect(await fetchFrom(csv('2026-02-12,4.25').replaceAll('\n', '\r\n'))).toHaveLength(1);
  });

  it('are empty for an empty file', async () => {
    expect(await fetchFrom(csv())).toEqual([]);
  });

  it('are within the range, once each', async () => {
    const values = await fetchFrom(csv('2026-02-09,4.1', '2026-02-10,4.2', '2026-02-10,4.3'));
    expect(values.map(({ value }) => value)).toEqual([4.3]);
  });

  it('are requested by name and dates', async () => {
    const provider = createAnsweringProvider('fred', 'observation_date,DFEDTARU\n');
    await fred.policyRate.fetch(provider, range);
    expect(provider.asked).toMatchObject([{ query: { id: 'DFEDTARU', cosd: '2026-02-10', coed: '2026-02-17' }, format: 'text' }]);
  });

  it.each([
    ['a value in words', csv('2026-02-12,n/a'), '0.DGS10'],
    ['two numbers in one', csv('2026-02-12,"4,25"'), '0.DGS10'],
    ['a line without a value', csv('2026-02-12'), '0.DGS10'],
    ['another form of date', csv('12/02/2026,4.25'), '0.observation_date'],
    ['an impossible date', csv('2026-02-30,4.25'), '0.observation_date'],
    ['another series', csv('2026-02-12,4.25').replace('DGS10', 'DGS2'), 'header'],
    ['the header of former years', csv('2026-02-12,4.25').replace('observation_date', 'DATE'), 'header'],
    ['nothing', '\n', 'header'],
    ['a page', '<html>\n<p>moved</p>\n', 'header'],
    ['an open quote', csv('2026-02-12,"4.25'), 'answer'],
    ['a last line that is cut off', csv('2026-02-12,4.25').slice(0, -3), 'answer'],
    ['no text', { observations: [] }, 'answer'],
    ['a day after tomorrow', csv('2030-01-01,4.25'), 'date'],
  ])('throw FEED_INVALID for %s', async (_, text, field) => {
    await expect(fetchFrom(text)).rejects.toMatchObject({ code: 'FEED_INVALID', field, message: expect.stringMatching(/^FRED.*: /) });
  });
});

describeWithShared('observations as recorded', () => {
  it('are parsed from a recorded response', async () => {
    const text = readSampleText('fred_fredgraph_sp500.csv');
    const full = text.split('\n').filter((line) => /^\d.*,\d/.test(line));
    const values = await fred.sp500.fetch(createAnsweringProvider('fred', text), { from: 0, to: TODAY });
    expect(values.map(({ value }) => value)).toEqual(full.map((line) => Number(line.split(',')[1])));
  });
});
