import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combineScores, meanAt, meanOfAvailable, RollingMedian, zScoreAt } from '../../../src/forecast/features.ts';

const cell = fc.oneof(
  // The two zeros are one number, and stand in any order: without the sign of one.
  { weight: 4, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value + 0) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
);

function medianOf(values: number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

describe('RollingMedian', () => {
  it('agrees with sorting the window', () => {
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (values, window) => {
        const rolling = new RollingMedian(window);
        values.forEach((value, index) => {
          rolling.push(value);
          const expected = medianOf(values.slice(Math.max(0, index - window + 1), index + 1));
          expect(rolling.median(1)).toBe(expected);
        });
      }),
    );
  });

  it('is masked below the minimum count', () => {
    const rolling = new RollingMedian(3);
    rolling.push(1);
    rolling.push(Number.NaN);
    expect(rolling.median(2)).toBeNaN();
    expect(rolling.median(1)).toBe(1);
  });
});

describe('rolling means and z-scores', () => {
  const values = Float64Array.of(1, Number.NaN, 2, 3, 6);

  it('skip masked values', () => {
    expect(meanAt(values, 4, 4, 3)).toBe(11 / 3);
    expect(meanAt(values, 4, 4, 4)).toBeNaN();
    expect(zScoreAt(values, 4, 5, 4)).toBeCloseTo(3 / Math.sqrt(14 / 3), 14);
  });

  it('are masked for a masked value, without variance or with too few values', () => {
    expect(zScoreAt(values, 1, 5, 1)).toBeNaN();
    expect(zScoreAt(values, 4, 5, 5)).toBeNaN();
    expect(zScoreAt(Float64Array.of(5, 5, 5), 2, 3, 2)).toBeNaN();
  });

  it('average available values', () => {
    expect(meanOfAvailable(1, Number.NaN, 3)).toBe(2);
    expect(meanOfAvailable(Number.NaN)).toBeNaN();
    expect(combineScores(Number.NaN, Number.NaN)).toBe(0);
  });
});
