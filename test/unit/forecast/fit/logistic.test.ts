import { describe, expect, it } from 'vitest';
import { computeBaseRate, fitCalibration, fitLogistic, logit, sigmoid } from '../../../../src/forecast/fit.ts';
import { describeGolden, readGolden } from '../golden-frame.ts';
import { seededRandom } from '../synthetic-frame.ts';

describe('fitLogistic', () => {
  it('converges to a zero gradient of the log posterior', () => {
    const random = seededRandom(3);
    const rows = 60;
    const problem = {
      design: [() => 1, () => 2 * random() - 1, () => 2 * random() - 1].map((value) => Float64Array.from({ length: rows }, value)),
      labels: Float64Array.from({ length: rows }, () => (random() < 0.6 ? 1 : 0)),
      weights: Float64Array.from({ length: rows }, () => random()),
      offset: Float64Array.from({ length: rows }, () => random() - 0.5),
      from: 5,
      to: 50,
      precision: [0, 16, 4],
      priorMean: [0, 0, 0.5],
    };
    const beta = fitLogistic(problem);
    for (let i = 0; i < 3; i++) {
      let gradient = -problem.precision[i] * (beta[i] - problem.priorMean[i]);
      for (let row = 5; row < 50; row++) {
        const odds = problem.offset[row] + beta.reduce((sum, b, j) => sum + b * problem.design[j][row], 0);
        gradient += problem.weights[row] * (problem.labels[row] - sigmoid(odds)) * problem.design[i][row];
      }
      expect(Math.abs(gradient)).toBeLessThan(1e-12);
    }
  });

  it('inverts the logit', () => {
    expect(sigmoid(logit(0.53))).toBeCloseTo(0.53, 15);
    expect([sigmoid(-800), sigmoid(800)]).toEqual([0, 1]);
  });
});

describe('fitCalibration', () => {
  const labels = Float64Array.of(1, 0, 1, 0);
  const rowsOf = (slope: number) => ({
    deviations: Float64Array.of(slope, -slope, slope, -slope),
    offset: new Float64Array(4),
    labels,
    weights: new Float64Array(4).fill(100),
    from: 0,
    to: 4,
  });

  it('clips the slope to [0, 1]', () => {
    expect(fitCalibration(rowsOf(0.5)).calB).toBe(1);
    expect(fitCalibration(rowsOf(-0.5)).calB).toBe(0);
  });

  it('returns the prior without rows', () => {
    expect(fitCalibration({ ...rowsOf(1), to: 0 })).toEqual({ calA: 0, calB: 0.5 });
  });
});

interface UnitVectors {
  ridge: { X: number[][]; y: number[]; w: number[]; lam: number[]; beta: number[] };
  base_rate: number;
  calibrate: { off: number[]; dev: number[]; y: number[]; w: number[]; out: number[] };
}

describeGolden('the reference vectors of the fits', () => {
  const { ridge, base_rate, calibrate } = readGolden<UnitVectors>('unit_vectors.json');
  const columns = { labels: Float64Array.from(ridge.y), weights: Float64Array.from(ridge.w), from: 0, to: ridge.y.length };

  it('match the ridge regression', () => {
    const beta = fitLogistic({
      ...columns,
      design: [0, 1, 2].map((input) => Float64Array.from(ridge.X, (row) => row[input])),
      precision: ridge.lam,
      priorMean: [0, 0, 0],
    });
    beta.forEach((value, index) => {
      expect(value).toBeCloseTo(ridge.beta[index], 9);
    });
  });

  it('match the base rate', () => {
    expect(computeBaseRate(columns)).toBeCloseTo(base_rate, 12);
  });

  it('match the calibration', () => {
    const { calA, calB } = fitCalibration({
      deviations: Float64Array.from(calibrate.dev),
      offset: Float64Array.from(calibrate.off),
      labels: Float64Array.from(calibrate.y),
      weights: Float64Array.from(calibrate.w),
      from: 0,
      to: calibrate.y.length,
    });
    expect(calA).toBeCloseTo(calibrate.out[0], 9);
    expect(calB).toBeCloseTo(calibrate.out[1], 9);
  });
});
