import { describe, expect, it } from 'vitest';
import { formatDay } from '../../../../../src/forecast/day.ts';
import { computeFlowStreak, findBiggestDays } from '../../../../../src/market/reports/etf.ts';
import { buildObservations } from '../../memory-feed.ts';

const flows = (...values: number[]) =>
  buildObservations(
    'etfFlow',
    values.map((value, index) => [100 + index, value]),
  );

describe('computeFlowStreak', () => {
  it.each([
    ['inflow', 2, [1, -1, 2, 3]],
    ['outflow', 3, [1, -1, -2, -3]],
    ['inflow', 3, [1, 1, 1]],
    ['inflow', 1, [1, 0, 1]],
    ['none', 0, [1, 0]],
    ['none', 0, []],
  ] as const)('returns %s of %d days', (direction, days, values) => {
    expect(computeFlowStreak(flows(...values))).toEqual({ direction, days });
  });
});

describe('findBiggestDays', () => {
  it('returns the first day with the largest inflow and outflow', () => {
    expect(findBiggestDays(flows(1, 5.5, -2, 5.5, -7, 3))).toEqual({
      biggestInflow: { date: formatDay(101), usd: 5_500_000 },
      biggestOutflow: { date: formatDay(104), usd: -7_000_000 },
    });
  });

  it('returns null without an inflow or outflow', () => {
    expect(findBiggestDays(flows(0, -1))).toMatchObject({ biggestInflow: null, biggestOutflow: { usd: -1_000_000 } });
    expect(findBiggestDays(flows())).toEqual({ biggestInflow: null, biggestOutflow: null });
  });
});
