import fc from 'fast-check';
import { expect, it } from 'vitest';
import { computeLossDifference, computeMaxDifference } from '../../../../src/forecast/challenge.ts';
import { computeGridCrps, QUANTILE_COUNT } from '../../../../src/forecast/distribution.ts';

/** Ascending whole numbers of 1e-6, as they are committed. */
const grids = fc.array(fc.integer({ min: -500_000, max: 500_000 }), { minLength: QUANTILE_COUNT, maxLength: QUANTILE_COUNT }).map((units) =>
  Float64Array.from(
    units.sort((a, b) => a - b),
    (unit) => unit / 1e6,
  ),
);
const returns = fc.double({ min: -2, max: 2, noNaN: true });

it('two scores differ by at most c, whatever the outcome', () => {
  fc.assert(
    fc.property(grids, grids, returns, (champion, challenger, realised) => {
      const difference = computeGridCrps(champion, realised) - computeGridCrps(challenger, realised);
      expect(Math.abs(difference)).toBeLessThanOrEqual(computeMaxDifference(champion, challenger) * (1 + 1e-12) + 1e-15);
      expect(Math.abs(computeLossDifference(champion, challenger, realised))).toBeLessThanOrEqual(1);
    }),
  );
});

it('an outcome beyond both of two shifted grids makes the difference almost as large as c', () => {
  const low = Float64Array.from({ length: QUANTILE_COUNT }, (_, index) => index / 1e4);
  const high = low.map((value) => value + 0.01);
  // Levels average one half.
  expect(computeLossDifference(low, high, 1)).toBeCloseTo(0.5, 12);
  expect(computeLossDifference(low, high, -1)).toBeCloseTo(-0.5, 12);
});

it('changes its sign with the roles, and is 0 for equal grids', () => {
  fc.assert(
    fc.property(grids, grids, returns, (champion, challenger, realised) => {
      expect(computeLossDifference(champion, challenger, realised) + computeLossDifference(challenger, champion, realised)).toBe(0);
      expect(computeLossDifference(champion, champion, realised)).toBe(0);
    }),
  );
});
