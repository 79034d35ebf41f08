import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyStability, findWorstStability, summarizeJointChange } from '../../../../../src/forecast/backtest/stability.ts';
import { between } from '../../../../support/record/arbitraries.ts';

/** Changes of which all are the same. */
const constant = (at10: number, at20: number) => [summarizeJointChange(10, [at10, -at10]), summarizeJointChange(20, [at20, -at20])];

describe('stability', () => {
  it.each([
    ['STABLE', 1, 2],
    ['MODERATE', 1.01, 2],
    ['MODERATE', 1, 2.01],
    ['MODERATE', 4.9, 5],
    ['MODERATE', 9, 5],
    ['OVERFIT', 0, 5.01],
  ] as const)('is %s at %d points by 10 %% and %d points by 20 %%', (result, at10, at20) => {
    expect(classifyStability(constant(at10, at20))).toBe(result);
  });

  it('is null without calls', () => {
    expect(classifyStability([summarizeJointChange(10, [null]), summarizeJointChange(20, [1])])).toBeNull();
    expect(summarizeJointChange(20, [null])).toEqual({ levelPct: 20, draws: 0, p50Points: null, p95Points: null, maxPoints: null });
  });

  it('is that of the worst horizon', () => {
    expect(findWorstStability(['STABLE', 'OVERFIT', 'MODERATE'])).toBe('OVERFIT');
    expect(findWorstStability(['STABLE', null])).toBe('STABLE');
    expect(findWorstStability([null])).toBeNull();
  });

  it('uses absolute changes', () => {
    const { p50Points, p95Points, maxPoints, draws } = summarizeJointChange(10, [-4, 3, null, -2, 1, 0]);
    expect({ p50Points, maxPoints, draws }).toEqual({ p50Points: 2, maxPoints: 4, draws: 5 });
    expect(p95Points).toBeCloseTo(3.8, 12);
  });

  it('has quantiles in order', () => {
    fc.assert(
      fc.property(fc.array(between(-100, 100), { minLength: 1 }), (changes) => {
        const { p50Points, p95Points, maxPoints } = summarizeJointChange(20, changes);
        expect(p50Points!).toBeLessThanOrEqual(p95Points!);
        expect(p95Points!).toBeLessThanOrEqual(maxPoints!);
        expect(maxPoints).toBe(Math.max(...changes.map(Math.abs)));
      }),
    );
  });
});
