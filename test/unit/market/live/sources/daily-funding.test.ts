import { describe, expect, it } from 'vitest';
import { instantOf } from '../../../../../src/forecast/day.ts';
import { dailyFunding } from '../../../../../src/market/live/sources/daily-funding.ts';
import { NOW_MS, TODAY } from './exchange-support.ts';

const fundings = (day: number, ...rates: number[]) =>
  rates.map((rate, index) => ({ atMs: instantOf(day, (24 / rates.length) * index), rate }));

describe('dailyFunding', () => {
  it('is the mean of the three fundings of a day', () => {
    expect(dailyFunding(fundings(TODAY - 1, 0.0001, -0.0002, 0.0004), NOW_MS)).toEqual([
      { day: TODAY - 1, value: expect.closeTo(0.0001, 12), providerAtMs: instantOf(TODAY - 1, 16) },
    ]);
  });

  it('stays per 8 h where fundings are every 4 h', () => {
    const [{ value }] = dailyFunding(fundings(TODAY - 1, ...Array(6).fill(0.0001)), NOW_MS);
    expect(value).toBeCloseTo(0.0002, 12);
  });

  it('leaves out the running day, and days that are not told in full', () => {
    const told = [...fundings(TODAY, 1, 2, 3), ...fundings(TODAY - 1, 1, 2, 3).slice(1), ...fundings(TODAY - 2, 1, 2, 3)];
    expect(dailyFunding(told, NOW_MS).map(({ day }) => day)).toEqual([TODAY - 2]);
  });

  it('counts a funding that is told twice once', () => {
    const told = fundings(TODAY - 1, 0.0001, 0.0002, 0.0003);
    expect(dailyFunding([...told, told[2]], NOW_MS)).toEqual(dailyFunding(told, NOW_MS));
    expect(dailyFunding([told[0], told[0], told[0]], NOW_MS)).toEqual([]);
  });
});
