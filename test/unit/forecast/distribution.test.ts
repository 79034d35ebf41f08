import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildDistribution,
  cdf,
  computePriceQuantiles,
  computeResidualQuantiles,
  computeScale,
  crps,
  type PredictiveDistribution,
  probabilityAbove,
  quantile,
} from '../../../src/forecast/distribution.ts';
import { between } from '../../support/record/arbitraries.ts';
import { describeGolden, readGolden } from './golden-frame.ts';
import { seededRandom } from './synthetic-frame.ts';

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
