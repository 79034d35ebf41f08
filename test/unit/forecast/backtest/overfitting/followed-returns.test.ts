import { describe, expect, it } from 'vitest';
import { computeFollowedReturns } from '../../../../../src/forecast/backtest/overfitting/followed-returns.ts';

/** To nine digits, zero without a sign. */
const rounded = (values: Float64Array) => Array.from(values, (value) => Math.round(value * 1e9) / 1e9 + 0);

describe('returns of following calls', () => {
  const closes = Float64Array.of(50, 100, 110, 99, 99, 198);

  it('are those of a capital in as many parts as the horizon has days', () => {
    const { followed, held } = computeFollowedReturns({ closes, firstRow: 1, positions: [1, 1, -1], horizonDays: 2 });
    // Calls of rows 1 and 2 are open on the day after row 2, those of rows 2 and 3 on the day after row 3.
    expect(rounded(held)).toEqual([-0.1, 0]);
    expect(rounded(followed)).toEqual([-0.1, 0]);
  });

  it('earn by a fall what a call DOWN is worth, and nothing without a call', () => {
    const { followed, held } = computeFollowedReturns({ closes, firstRow: 1, positions: [1, -1, 0, 1], horizonDays: 1 });
    expect(rounded(held)).toEqual([0.1, -0.1, 0, 1]);
    expect(rounded(followed)).toEqual([0.1, 0.1, 0, 1]);
  });

  it('are compared with as much held bitcoin as moves as much', () => {
    const always = computeFollowedReturns({ closes, firstRow: 0, positions: [1, 1, 1, 1, 1], horizonDays: 1 });
    expect(rounded(always.excess)).toEqual([0, 0, 0, 0, 0]);
    const never = computeFollowedReturns({ closes, firstRow: 0, positions: [0, 0, 0, 0, 0], horizonDays: 1 });
    expect(rounded(never.excess)).toEqual([0, 0, 0, 0, 0]);
    const short = computeFollowedReturns({ closes, firstRow: 0, positions: [-1, -1, -1, -1, -1], horizonDays: 1 });
    expect(rounded(short.excess)).toEqual([-2, -0.2, 0.2, 0, -2]);
  });

  it('are none where there are fewer calls than parts', () => {
    expect(computeFollowedReturns({ closes, firstRow: 0, positions: [1, 1], horizonDays: 3 }).followed).toHaveLength(0);
  });
});
