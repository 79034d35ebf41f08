import { describe, expect, it } from 'vitest';
import { computeFollowedReturns } from '../../../../../src/forecast/backtest/overfitting.ts';

/** To nine digits, zero without a sign. */
const rounded = (values: Float64Array) => Array.from(values, (value) => Math.round(value * 1e9) / 1e9 + 0);

describe('returns of following calls', () => {
  const closes = Float64Array.of(50, 100, 110, 99, 99, 198);

  it('split the capital over the days of the horizon', () => {
    const { followed, held } = computeFollowedReturns({ closes, firstRow: 1, positions: [1, 1, -1], horizonDays: 2 });
    // Calls of rows 1 and 2 are open on the day after row 2, those of rows 2 and 3 on the day after row 3.
    expect(rounded(held)).toEqual([-0.1, 0]);
    expect(rounded(followed)).toEqual([-0.1, 0]);
  });

  it('are positive for DOWN in a fall and 0 without a call', () => {
    const { followed, held } = computeFollowedReturns({ closes, firstRow: 1, positions: [1, -1, 0, 1], horizonDays: 1 });
    expect(rounded(held)).toEqual([0.1, -0.1, 0, 1]);
    expect(rounded(followed)).toEqual([0.1, 0.1, 0, 1]);
  });

  it('have an excess over holding with equal volatility', () => {
    const always = computeFollowedReturns({ closes, firstRow: 0, positions: [1, 1, 1, 1, 1], horizonDays: 1 });
    expect(rounded(always.excess)).toEqual([0, 0, 0, 0, 0]);
    const never = computeFollowedReturns({ closes, firstRow: 0, positions: [0, 0, 0, 0, 0], horizonDays: 1 });
    expect(rounded(never.excess)).toEqual([0, 0, 0, 0, 0]);
    const short = computeFollowedReturns({ closes, firstRow: 0, positions: [-1, -1, -1, -1, -1], horizonDays: 1 });
    expect(rounded(short.excess)).toEqual([-2, -0.2, 0.2, 0, -2]);
  });

  it('are empty with fewer calls than days of the horizon', () => {
    expect(computeFollowedReturns({ closes, firstRow: 0, positions: [1, 1], horizonDays: 3 }).followed).toHaveLength(0);
  });
});
