import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvPrices, parseCloses } from '../../../../src/cli/svc/audit-prices.ts';
import { parseDay } from '../../../../src/forecast/day.ts';
import { createBaseRates } from '../../../../src/forecast/fit.ts';
import { getBlockIndex, getTrainingEnd } from '../../../../src/forecast/model.ts';
import { isSamePrice } from '../../../../src/verify/checks/forecast.ts';

const parse = (text: string) => () => parseCloses(text, 'closes.csv');

describe('CSV prices', () => {
  it('are parsed by header, with other columns ignored', () => {
    const closes = parseCloses('\uFEFFvolume,Date,close\r\n1,2024-01-02,45000.5\r\n\r\n2,2024-01-01,44000\r\n', 'closes.csv');
    expect(closes).toEqual(
      new Map([
        [parseDay('2024-01-02'), 45_000.5],
        [parseDay('2024-01-01'), 44_000],
      ]),
    );
    expect(parseCloses('date,close_median\n2024-01-01,1\n', 'closes.csv').size).toBe(1);
  });

  it('use the median column if both exist', () => {
    for (const text of ['date,close,close_median\n2024-01-01,1,2', 'close_median,date,close\n2,2024-01-01,1'])
      expect([...parseCloses(text, 'closes.csv').values()]).toEqual([2]);
  });

  it.each([
    ['', /closes\.csv, line 1: needs the columns date and close/],
    ['date,price\n2024-01-01,1', /line 1: needs the columns/],
    ['date,close\n2024-01-01,1\n2024-13-01,2', /line 3: the date is not of the form/],
    ['date,close\n2024-01-01,', /line 2: the close is no price/],
    ['date,close\n2024-01-01,-5', /line 2: the close is no price/],
    ['date,close\n2024-01-01,Infinity', /line 2: the close is no price/],
    ['date,close\n2024-01-01', /line 2: the close is no price/],
    ['date,close\n2024-01-01,1\n2024-01-01,2', /line 3: 2024-01-01 is there twice/],
    ['date,close,close\n2024-01-01,1,2', /line 1: names the column close twice/],
    ['date,date,close\n2024-01-01,2024-01-02,2', /line 1: names the column date twice/],
    ['date,close\n2024-01-01,42000,50', /line 2: has 3 cells, and the header 2 names/],
    ['date,close\n2024-01-01,0x10', /line 2: the close is no price/],
    ['date,close\n2024-01-01,4e4', /line 2: the close is no price/],
    ['date,close\n2024-01-01,0', /line 2: the close is no price/],
    [`date,close\n2024-01-01,${'9'.repeat(400)}`, /line 2: the close is no price/],
  ])('reject an invalid file with its line: %j', (text, problem) => {
    expect(parse(text)).toThrow(problem);
  });

  it('report a missing file', async () => {
    await expect(csvPrices('/nowhere/closes.csv', 0)).rejects.toMatchObject({ code: 'FEED_INVALID', field: '--prices' });
  });

  it('provide base rates only since the first training day', async () => {
    const path = join(tmpdir(), `closes-${process.pid}.csv`);
    const written = (first: string) => writeFile(path, `date,close\n${first},1\n2011-06-09,2\n`);
    await written('2011-06-06');
    expect(await (await csvPrices(path, 0)).history()).toMatchObject({
      firstDay: parseDay('2011-06-06'),
      closes: new Float64Array([1, Number.NaN, Number.NaN, 2]),
    });
    await written('2011-06-07');
    expect(await (await csvPrices(path, 0)).history()).toBeNull();
  });
});

describe('isSamePrice', () => {
  it('is true within the tolerance, and to the cent without one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 1e9 }), fc.integer({ min: 0, max: 500 }), (cents, toleranceBps) => {
        const room = Math.floor((cents * toleranceBps) / 10_000);
        expect(isSamePrice(cents + room, cents / 100, toleranceBps)).toBe(true);
        expect(isSamePrice(cents - room, cents / 100, toleranceBps)).toBe(true);
        expect(isSamePrice(cents + room + 1, cents / 100, toleranceBps)).toBe(false);
        expect(isSamePrice(cents - room - 1, cents / 100, toleranceBps)).toBe(false);
      }),
    );
  });
});

describe('base rates', () => {
  const firstDay = parseDay('2011-01-01');
  const day = parseDay('2020-01-01');
  const end = getTrainingEnd(getBlockIndex(day), 7) - firstDay;
  const rising = (length: number) => Float64Array.from({ length }, (_, row) => 100 + row);

  it('are the share of rises shrunk to one half by fifty pseudo-observations', () => {
    const rows = end - (parseDay('2012-01-01') - firstDay);
    const found = createBaseRates({ firstDay, closes: rising(end + 7) })(day, 7);
    expect(found.climatology).toBeCloseTo((25 + rows / 7) / (50 + rows / 7), 12);
    expect(found.climatology4y).toBeCloseTo((25 + 1461 / 7) / (50 + 1461 / 7), 12);
  });

  it('are null without a required close', () => {
    const none = { climatology: null, climatology4y: null };
    expect(createBaseRates(null)(day, 7)).toEqual(none);
    expect(createBaseRates({ firstDay, closes: rising(end + 6) })(day, 7)).toEqual(none);
    const closes = rising(end + 7);
    closes[end + 6] = Number.NaN;
    expect(createBaseRates({ firstDay, closes })(day, 7)).toEqual(none);
    const early = rising(end + 7);
    early[0] = Number.NaN;
    expect(createBaseRates({ firstDay, closes: early })(day, 7).climatology).not.toBeNull();
  });
});
