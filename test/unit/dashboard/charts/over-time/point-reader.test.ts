import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findPoint } from '../../../../../src/page/browser/charts/time-figure.ts';

const positions = fc
  .uniqueArray(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 40 })
  .map((xs) => xs.toSorted((a, b) => a - b));
const pixel = fc.integer({ min: -100, max: 1_100 });

it('finds the nearest point', () => {
  fc.assert(
    fc.property(positions, pixel, (xs, x) => {
      const found = Math.abs(xs[findPoint(xs, x, false)] - x);
      expect(found).toBe(Math.min(...xs.map((one) => Math.abs(one - x))));
    }),
  );
});

it('finds the last stepped point that has begun, or the first', () => {
  fc.assert(
    fc.property(positions, pixel, (xs, x) => {
      expect(findPoint(xs, x, true)).toBe(
        Math.max(
          0,
          xs.findLastIndex((one) => one <= x),
        ),
      );
    }),
  );
});
