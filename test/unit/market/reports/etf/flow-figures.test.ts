import { describe, expect, it } from 'vitest';
import { formatDay } from '../../../../../src/forecast/day.ts';
import { computeFlowStreak, findBiggestDays } from '../../../../../src/market/reports/etf/flow-figures.ts';
import { buildObservations } from '../../memory-feed.ts';

const flows = (...values: number[]) =>
  buildObservations(
    'etfFlow',
    values.map((value, index) => [100 + index, value]),
  );

describe('flowStreak', () => {
  it.each([
    ['inflow', 2, [1, -1, 2, 3]],
    ['outflow', 3, [1, -1, -2, -3]],
    ['inflow', 3, [1, 1, 1]],
    ['inflow', 1, [1, 0, 1]],
    ['none', 0, [1, 0]],
    ['none', 0, []],
  ] as const)('is %s of %d days', (direction, days, values) => {
    expect(computeFlowStreak(flows(...values))).toEqual({ direction, days });
  });
});

describe('biggestDays', () => {
  it('are the first of the largest in- and outflows', () => {
    expect(findBiggestDays(flows(1, 5.5, -2, 5.5, -7, 3))).toEqual({
      biggestInflow: { date: formatDay(101), usd: 5_500_000 },
      biggestOutflow: { date: formatDay(104), usd: -7_000_000 },
    });
  });

  it('are missing where money never flowed that way', () => {
    expect(findBiggestDays(flows(0, -1))).toMatchObject({ biggestInflow: null, biggestOutflow: { usd: -1_000_000 } });
    expect(findBiggestDays(flows())).toEqual({ biggestInflow: null, biggestOutflow: null });
  });
});
