import { describe, expect, it } from 'vitest';
import { toInstantMs } from '../../../../../../src/forecast/day.ts';
import { computeDailyFunding } from '../../../../../../src/market/live/sources/derivatives/daily-funding.ts';
import { NOW_MS, TODAY } from '../test-providers.ts';

const fundings = (day: number, ...rates: number[]) =>
  rates.map((rate, index) => ({ atMs: toInstantMs(day, (24 / rates.length) * index), rate }));

describe('dailyFunding', () => {
  it('returns the mean of three fundings a day', () => {
    expect(computeDailyFunding(fundings(TODAY - 1, 0.0001, -0.0002, 0.0004), NOW_MS)).toEqual([
      { day: TODAY - 1, value: expect.closeTo(0.0001, 12), providerAtMs: toInstantMs(TODAY - 1, 16) },
    ]);
  });

  it('stays per 8 h with fundings every 4 h', () => {
    const [{ value }] = computeDailyFunding(fundings(TODAY - 1, ...Array(6).fill(0.0001)), NOW_MS);
    expect(value).toBeCloseTo(0.0002, 12);
  });

  it('excludes the running day and incomplete days', () => {
    const payments = [...fundings(TODAY, 1, 2, 3), ...fundings(TODAY - 1, 1, 2, 3).slice(1), ...fundings(TODAY - 2, 1, 2, 3)];
    expect(computeDailyFunding(payments, NOW_MS).map(({ day }) => day)).toEqual([TODAY - 2]);
  });

  it('counts a repeated funding once', () => {
    const payments = fundings(TODAY - 1, 0.0001, 0.0002, 0.0003);
    expect(computeDailyFunding([...payments, payments[2]], NOW_MS)).toEqual(computeDailyFunding(payments, NOW_MS));
    expect(computeDailyFunding([payments[0], payments[0], payments[0]], NOW_MS)).toEqual([]);
  });
});
