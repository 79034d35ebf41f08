import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildDistribution,
  cdf,
  computeLogScore,
  crps,
  isInCentralRange,
  QUANTILE_COUNT,
  QUANTILE_LEVELS,
  scoreGrid,
  toQuantileGrid,
} from '../../../../src/forecast/distribution.ts';
import { normalQuantile } from '../../../../src/forecast/math.ts';

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
