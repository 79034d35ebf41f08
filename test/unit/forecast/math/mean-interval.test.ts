import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeMeanInterval, studentQuantile } from '../../../../src/forecast/bootstrap.ts';
import { between } from '../../../support/record/arbitraries.ts';

describe("the 97.5 % quantile of Student's t", () => {
  it.each([
    [1, 12.7062],
    [2, 4.3027],
    [3, 3.1824],
    [4, 2.7764],
    [5, 2.5706],
    [4.5, 2.6589],
    [7.07, 2.3599],
    [10, 2.2281],
    [30, 2.0423],
    [120, 1.9799],
    [1_000_000, 1.96],
  ])('matches the tables at %d degrees of freedom', (degrees, expected) => {
    expect(Math.abs(studentQuantile(degrees) / expected - 1)).toBeLessThan(0.002);
  });

  it('decreases with the degrees of freedom', () => {
    for (let degrees = 1; degrees < 200; degrees++) expect(studentQuantile(degrees + 1)).toBeLessThan(studentQuantile(degrees));
  });
});

describe('mean intervals', () => {
  it('are null without values, unbounded for one', () => {
    expect(computeMeanInterval([])).toBeNull();
    expect(computeMeanInterval([3])).toEqual({ n: 1, mean: 3, low: null, high: null });
  });

  it('match a worked example', () => {
    // Mean 5, standard deviation 2.5820, standard error 1.2910.
    const { n, mean, low, high } = computeMeanInterval([2, 4, 6, 8])!;
    expect([n, mean]).toEqual([4, 5]);
    expect(high! - 5).toBeCloseTo(3.1824 * 1.29099, 1);
    expect(5 - low!).toBeCloseTo(high! - 5, 9);
  });

  it('contain the mean and scale with the values', () => {
    const values = fc.array(between(-100, 100), { minLength: 2, maxLength: 50 });
    fc.assert(
      fc.property(values, between(-10, 10), (sample, shift) => {
        const { mean, low, high } = computeMeanInterval(sample)!;
        expect(low!).toBeLessThanOrEqual(mean);
        expect(high!).toBeGreaterThanOrEqual(mean);
        const moved = computeMeanInterval(sample.map((value) => 2 * value + shift))!;
        expect(moved.mean).toBeCloseTo(2 * mean + shift, 6);
        expect(moved.high! - moved.low!).toBeCloseTo(2 * (high! - low!), 6);
      }),
    );
  });
});
