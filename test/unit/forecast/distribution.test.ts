import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildDistribution,
  CENTRAL_SHARES,
  cdf,
  computeHalfWidths,
  computeHalfWidthsFromVariance,
  computeLogScore,
  computeResidualQuantiles,
  computeScale,
  crps,
  isInCentralRange,
  type PredictiveDistribution,
  probabilityAbove,
  QUANTILE_COUNT,
  QUANTILE_LEVELS,
  quantile,
  scoreGrid,
  toQuantileGrid,
  widenPrice,
} from '../../../src/forecast/distribution.ts';
import { normalQuantile } from '../../../src/forecast/math.ts';
import { computePriceQuantiles } from '../../../src/forecast/signal.ts';
import { between } from '../../support/record/arbitraries.ts';
import { describeGolden, readGolden } from './golden-frame.ts';
import { seededRandom } from './synthetic-frame.ts';

describe('central range', () => {
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
});

describe('distribution', () => {
  /** Residuals with a fat tail on either side. */
  function residuals(seed: number): Float64Array {
    const random = seededRandom(seed);
    return Float64Array.from({ length: 500 }, () => {
      const u = random() - 0.5;
      return Math.sign(u) * -Math.log(1 - 2 * Math.abs(u)) + 0.05;
    });
  }

  const distributions = fc
    .record({
      seed: fc.integer({ min: 1, max: 50 }),
      scale: between(0.001, 0.5),
      pUp: between(0.001, 0.999),
    })
    .map(({ seed, scale, pUp }) => ({
      pUp,
      distribution: buildDistribution({ residualQuantiles: computeResidualQuantiles(residuals(seed)), scale, pUp }),
    }));

  const probability = between(1e-6, 1 - 1e-6);

  describe('a predictive distribution', () => {
    it('has P(return > 0) of the forecast', () => {
      fc.assert(
        fc.property(distributions, ({ pUp, distribution }) => {
          expect(1 - cdf(distribution, 0)).toBeCloseTo(pUp, 12);
          expect(probabilityAbove({ distribution, spot: 61_234.5, strike: 61_234.5 })).toBeCloseTo(pUp, 12);
        }),
      );
    });

    it('has a monotonic cdf in [0, 1]', () => {
      const returns = between(-5, 5);
      fc.assert(
        fc.property(distributions, returns, returns, ({ distribution }, a, b) => {
          const [low, high] = [cdf(distribution, Math.min(a, b)), cdf(distribution, Math.max(a, b))];
          expect(low).toBeLessThanOrEqual(high);
          expect(low).toBeGreaterThanOrEqual(0);
          expect(high).toBeLessThanOrEqual(1);
        }),
      );
    });

    it('has quantiles that invert the cdf, tails included', () => {
      fc.assert(
        fc.property(distributions, probability, ({ distribution }, u) => {
          expect(cdf(distribution, quantile(distribution, u))).toBeCloseTo(u, 11);
        }),
      );
    });

    it('has monotonic quantiles', () => {
      fc.assert(
        fc.property(distributions, probability, probability, ({ distribution }, a, b) => {
          expect(quantile(distribution, Math.min(a, b))).toBeLessThanOrEqual(quantile(distribution, Math.max(a, b)));
        }),
      );
    });

    it('is unbounded', () => {
      const distribution = buildDistribution({ residualQuantiles: computeResidualQuantiles(residuals(1)), scale: 0.1, pUp: 0.5 });
      expect([quantile(distribution, 0), quantile(distribution, 1)]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
      expect(probabilityAbove({ distribution, spot: 1, strike: 1e-300 })).toBe(1);
      expect(probabilityAbove({ distribution, spot: 1, strike: 1e300 })).toBeCloseTo(0, 15);
    });

    it('turns quantiles into prices', () => {
      const distribution: PredictiveDistribution = {
        scale: 2,
        shift: 0.5,
        residualQuantiles: Array.from({ length: 199 }, (_, i) => i / 100),
      };
      expect(computePriceQuantiles(distribution, [0.5], 100)).toEqual([
        { level: 0.5, logReturn: 2 * (0.99 - 0.5), price: 100 * Math.exp(2 * (0.99 - 0.5)) },
      ]);
    });

    it('jumps where residuals repeat', () => {
      const distribution: PredictiveDistribution = { scale: 1, shift: 0, residualQuantiles: new Array<number>(199).fill(0) };
      expect([-0.1, 0, 0.1].map((value) => cdf(distribution, value))).toEqual([0, expect.closeTo(0.995, 12), 1]);
    });
  });

  describe('crps', () => {
    it('is twice the mean pinball loss', () => {
      const distribution: PredictiveDistribution = { scale: 1, shift: 0, residualQuantiles: new Array<number>(199).fill(0) };
      expect(crps(distribution, 0.3)).toBeCloseTo(0.3, 14);
      expect(crps(distribution, -0.3)).toBeCloseTo(0.3, 14);
    });

    it('is lowest at the median', () => {
      const distribution = buildDistribution({ residualQuantiles: computeResidualQuantiles(residuals(2)), scale: 0.05, pUp: 0.55 });
      const middle = quantile(distribution, 0.5);
      expect(crps(distribution, middle)).toBeLessThan(crps(distribution, middle + 0.01));
      expect(crps(distribution, middle)).toBeLessThan(crps(distribution, middle - 0.01));
    });
  });

  describe('computeScale and computeResidualQuantiles', () => {
    it('scale with the square root of the horizon', () => {
      expect(computeScale(0.0004, 0.0012, 1)).toBeCloseTo(Math.sqrt(0.0008), 15);
      expect(computeScale(0.0004, 0.0012, 2.25)).toBeCloseTo(1.5 * Math.sqrt(0.0008), 15);
    });

    it('interpolate order statistics and skip NaN', () => {
      const quantiles = computeResidualQuantiles(Float64Array.of(3, Number.NaN, 1, 2));
      expect(quantiles[99]).toBe(2);
      expect(quantiles[49]).toBe(1.5);
      expect(quantiles[0]).toBeCloseTo(1.01, 14);
      expect(() => computeResidualQuantiles(Float64Array.of(Number.NaN))).toThrow('the price is constant');
    });
  });

  interface UnitVectors {
    quantile: { z: number[]; Q_first3: number[]; Q_mid: number; Q_last3: number[]; cdf: Record<string, number>; crps_y0: number };
  }

  describeGolden('the reference vectors of the distribution', () => {
    const golden = readGolden<UnitVectors>('unit_vectors.json').quantile;
    const residualQuantiles = computeResidualQuantiles(Float64Array.from(golden.z));
    const distribution: PredictiveDistribution = { scale: 1, shift: 0, residualQuantiles };

    it('match the quantiles', () => {
      const picked = [...residualQuantiles.slice(0, 3), residualQuantiles[99], ...residualQuantiles.slice(-3)];
      [...golden.Q_first3, golden.Q_mid, ...golden.Q_last3].forEach((value, index) => {
        expect(picked[index]).toBeCloseTo(value, 12);
      });
    });

    it.each(Object.entries(golden.cdf))('match the cdf at %s', (z, expected) => {
      expect(Math.abs(cdf(distribution, Number(z)) / expected - 1)).toBeLessThan(1e-9);
    });

    it('match the CRPS', () => {
      // The observation of this vector is .3, which its file does not say; at 0 the same residuals give .24097.
      expect(crps(distribution, 0.3)).toBeCloseTo(golden.crps_y0, 12);
    });
  });
});

const NORMAL = QUANTILE_LEVELS.map(normalQuantile);

describe('scores of a grid of quantiles', () => {
  it('are those of the distribution it was taken from', () => {
    const distribution = buildDistribution({ residualQuantiles: [...NORMAL], scale: 0.03, pUp: 0.56 });
    const grid = toQuantileGrid(distribution);
    fc.assert(
      fc.property(fc.double({ min: -0.3, max: 0.3, noNaN: true }), (realised) => {
        const scores = scoreGrid(grid, realised);
        expect(scores.crps).toBeCloseTo(crps(distribution, realised), 12);
        expect(scores.pit).toBeCloseTo(cdf(distribution, realised), 9);
        for (const [share, isIn] of [
          [0.5, scores.in50],
          [0.8, scores.in80],
          [0.9, scores.in90],
        ] as const)
          if (Math.abs(Math.abs(scores.pit - 0.5) - share / 2) > 1e-9) expect(isIn).toBe(Math.abs(scores.pit - 0.5) < share / 2);
      }),
    );
  });

  it('come near those of a normal distribution in closed form', () => {
    const { crps: score, logScore, pit } = scoreGrid(NORMAL, 0.5);
    // sigma (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)); the grid leaves the outermost half per cent out.
    expect(score).toBeCloseTo(0.3314, 2);
    expect(logScore).toBeCloseTo(0.5 * Math.log(2 * Math.PI) + 0.125, 2);
    expect(pit).toBeCloseTo(0.6915, 3);
  });

  it('include the bounds of a central range', () => {
    const grid = Float64Array.from({ length: QUANTILE_COUNT }, (_, index) => index + 1);
    expect([50, 150, 49.9, 150.1].map((realised) => isInCentralRange(grid, realised, 0.5))).toEqual([true, true, false, false]);
    expect([20, 180, 19.9, 180.1].map((realised) => isInCentralRange(grid, realised, 0.8))).toEqual([true, true, false, false]);
    expect([10, 190, 9.9, 190.1].map((realised) => isInCentralRange(grid, realised, 0.9))).toEqual([true, true, false, false]);
  });

  it('have a density of mass 1', () => {
    const grid = NORMAL.map((z) => 0.03 * z);
    const step = 1e-4;
    let mass = 0;
    for (let at = -1; at < 1; at += step) mass += Math.exp(-computeLogScore(grid, at + step / 2)) * step;
    expect(mass).toBeCloseTo(1, 3);
  });

  it('stay finite for equal quantiles and outcomes far outside', () => {
    const grid = new Float64Array(QUANTILE_COUNT);
    expect(scoreGrid(grid, 0).logScore).toBeCloseTo(-Math.log(0.005 / 1e-6), 9);
    expect(scoreGrid(grid, 9).logScore).toBeCloseTo(-Math.log(1e-9), 9);
    expect(scoreGrid(NORMAL, -1e6).logScore).toBeCloseTo(-Math.log(1e-9), 9);
  });

  it('are rejected for a grid that descends, is too short or is not finite', () => {
    for (const grid of [[...NORMAL].reverse(), NORMAL.slice(1), NORMAL.map(() => Number.NaN)])
      expect(() => scoreGrid(grid, 0)).toThrow(/quantile \d+ of 199/);
  });
});
