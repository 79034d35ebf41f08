import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildDistribution,
  CENTRAL_SHARES,
  computeHalfWidths,
  computeHalfWidthsFromVariance,
  QUANTILE_COUNT,
  quantile,
  toQuantileGrid,
  widenPrice,
} from '../../../src/forecast/distribution.ts';

/** Skewed and unevenly dense, as empirical residuals are. */
const residuals = fc
  .array(fc.double({ min: -4, max: 6, noNaN: true }), { minLength: QUANTILE_COUNT, maxLength: QUANTILE_COUNT })
  .map((values) => values.sort((a, b) => a - b));
const probabilities = fc.double({ min: 0.001, max: 0.999, noNaN: true });
const scales = fc.double({ min: 1e-4, max: 0.5, noNaN: true });

describe('the widths of a distribution', () => {
  it('are the same whatever P(up) is', () => {
    fc.assert(
      fc.property(residuals, scales, probabilities, (residualQuantiles, scale, pUp) => {
        const even = buildDistribution({ residualQuantiles, scale, pUp: 0.5 });
        const moved = buildDistribution({ residualQuantiles, scale, pUp });
        expect(computeHalfWidths(moved)).toEqual(computeHalfWidths(even));
      }),
    );
  });

  it('are half the distances of its quantiles, also of a grid that contains its shift', () => {
    fc.assert(
      fc.property(residuals, scales, probabilities, (residualQuantiles, scale, pUp) => {
        const distribution = buildDistribution({ residualQuantiles, scale, pUp });
        const widths = Object.values(computeHalfWidths(distribution));
        const ofGrid = Object.values(computeHalfWidths({ scale: 1, residualQuantiles: [...toQuantileGrid(distribution)] }));
        for (const [index, share] of CENTRAL_SHARES.entries()) {
          const distance = quantile(distribution, (1 + share) / 2) - quantile(distribution, (1 - share) / 2);
          expect(Math.abs(widths[index]! - (1e6 * distance) / 2)).toBeLessThan(0.51);
          // Rounding decides where a width lies half-way between two units.
          expect(Math.abs(widths[index]! - ofGrid[index]!)).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it('follow from the variances of a day', () => {
    const residualQuantiles = Array.from({ length: QUANTILE_COUNT }, (_, index) => (index - 99) / 100);
    const widths = computeHalfWidthsFromVariance({ v94: 0.0004, v99: 0.0002 }, { horizonDays: 3, residualQuantiles });
    const scale = Math.sqrt(3 * 0.0003);
    expect(widths).toEqual({
      central50: Math.round(1e6 * scale * 0.5),
      central80: Math.round(1e6 * scale * 0.8),
      central90: Math.round(1e6 * scale * 0.9),
    });
  });
});

it('a range has its price in the logarithmic middle', () => {
  const { low, high } = widenPrice(100, 50_000);
  expect(low).toBeCloseTo(100 * Math.exp(-0.05), 10);
  expect(low * high).toBeCloseTo(100 ** 2, 8);
});
