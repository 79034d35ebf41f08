import { describe, expect, it } from 'vitest';
import { computeOutOfSampleFolds } from '../../../src/forecast/backtest/out-of-sample.ts';
import {
  BASELINES,
  CLIMATOLOGY,
  createLikelihood,
  EWMA,
  fitGarch,
  GARCH,
  logGamma,
  minimize,
  studentTCdf,
  studentTDensity,
  studentTQuantile,
  toParameters,
  toVariables,
} from '../../../src/forecast/baselines.ts';
import { createRandom } from '../../../src/forecast/bootstrap.ts';
import { computeGridCrps, requireGrid } from '../../../src/forecast/distribution.ts';
import { computeFeatures } from '../../../src/forecast/features.ts';
import type { FeatureTable } from '../../../src/forecast/inputs.ts';
import { meanBy } from '../../../src/forecast/math.ts';
import { BLOCK_DAYS, getBlockStart, HORIZONS, type HorizonDays, TRAINING_START } from '../../../src/forecast/model.ts';
import { describeGolden, readGoldenFrame } from './golden-frame.ts';

/** Closes of a random walk of normal returns from 2012 until two blocks after the origin. */
function simulateHistory() {
  const random = createRandom(7);
  const firstDay = TRAINING_START - 31;
  const closes = new Float64Array(getBlockStart(2) - firstDay);
  closes[0] = 100;
  for (let row = 1; row < closes.length; row++) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    closes[row] = closes[row - 1]! * Math.exp(0.03 * normal);
  }
  const v94 = new Float64Array(closes.length).fill(0.03 ** 2);
  return { closes, features: { firstDay, length: closes.length, v94, v99: v94 } as FeatureTable };
}

describe('a baseline', () => {
  const history = simulateHistory();
  const row = getBlockStart(0) - history.features.firstDay;

  it.each(BASELINES)('$name gives 199 ascending quantiles for every horizon', (baseline) => {
    for (const horizonDays of HORIZONS) {
      const grid = baseline.fit(history, 0, horizonDays)(row);
      requireGrid(grid);
      const spread = (grid[189]! - grid[9]!) / (2 * 1.645 * 0.03 * Math.sqrt(horizonDays));
      expect(spread).toBeGreaterThan(0.8);
      expect(spread).toBeLessThan(1.2);
    }
  });

  it.each(BASELINES)('$name reads nothing after its row, and fits nothing after its training days', (baseline) => {
    for (const horizonDays of HORIZONS) {
      const closes = history.closes.map((close, index) => (index > row ? 5 * close : close));
      expect(baseline.fit({ ...history, closes }, 0, horizonDays)(row)).toEqual(baseline.fit(history, 0, horizonDays)(row));
    }
    const recent = history.closes.map((close, index) => (index >= row - 7 ? 5 * close : close));
    expect(fitGarch({ ...history, closes: recent }, 0, 1).parameters).toEqual(fitGarch(history, 0, 1).parameters);
    expect(CLIMATOLOGY.fit({ ...history, closes: recent }, 0, 7)(row)).toEqual(CLIMATOLOGY.fit(history, 0, 7)(row));
  });

  it('without usable returns is an error', () => {
    const constant = { ...history, closes: history.closes.map(() => 1) };
    expect(() => GARCH.fit(constant, 0, 1)).toThrow(/no variance/);
    expect(() => GARCH.fit({ ...history, closes: history.closes.subarray(0, 100) }, 0, 1)).toThrow(/no variance/);
    for (const baseline of [EWMA, GARCH]) expect(() => baseline.fit(history, 0, 1)(history.closes.length)).toThrow(/outside a history/);
  });

  it('of GARCH finds normal returns of constant variance', () => {
    const { parameters } = fitGarch(history, 1, 1);
    expect(parameters.degrees).toBeGreaterThan(20);
    expect(Math.abs(parameters.mu)).toBeLessThan(0.2);
    expect(parameters.alpha).toBeLessThan(0.05);
  });
});

describeGolden('the model and its baselines on the reference history', () => {
  const frame = readGoldenFrame();
  const history = { closes: frame.close, features: computeFeatures(frame) };
  const skillOf = (horizonDays: HorizonDays) => {
    const folds = computeOutOfSampleFolds(history, horizonDays);
    const scores = folds.flatMap(({ fold, days }) => {
      const forecasts = BASELINES.map((baseline) => baseline.fit(history, fold - 1, horizonDays));
      return days.map((day) => ({ day, theirs: forecasts.map((forecast) => computeGridCrps(forecast(day.row), day.realised)) }));
    });
    const ours = meanBy(scores, ({ day }) => day.distribution.crps);
    const recent = meanBy(scores, ({ day }) => day.recentCrps);
    return { days: scores.length, recent, ours, theirs: BASELINES.map((_, index) => meanBy(scores, ({ theirs }) => theirs[index]!)) };
  };

  it('is not better than GARCH at one day, and better than a random walk', () => {
    const { days, ours, recent, theirs } = skillOf(1);
    const [climatology, ewma, garch] = theirs as [number, number, number];
    expect(days % BLOCK_DAYS).toBe(0);
    expect(climatology).toBeCloseTo(recent, 12);
    expect(Math.abs(1 - ours / garch)).toBeLessThan(0.001);
    expect(1 - ours / ewma).toBeGreaterThan(0.004);
    expect(1 - ours / climatology).toBeGreaterThan(0.01);
  });
});
const TRUE = { mu: 0.1, omega: 0.3, alpha: 0.12, beta: 0.85, degrees: 5 };

function simulateReturns(n: number): Float64Array {
  const random = createRandom(11);
  const unit = Math.sqrt((TRUE.degrees - 2) / TRUE.degrees);
  let variance = TRUE.omega / (1 - TRUE.alpha - TRUE.beta);
  return Float64Array.from({ length: n }, () => {
    const error = Math.sqrt(variance) * unit * studentTQuantile(0.0001 + 0.9998 * random(), TRUE.degrees);
    variance = TRUE.omega + TRUE.alpha * error ** 2 + TRUE.beta * variance;
    return TRUE.mu + error;
  });
}

describe('the likelihood of GARCH(1,1)-t', () => {
  it('is the density of each return by its variance', () => {
    const returns = Float64Array.of(1, -2, 0.5);
    let [variance, sum] = [4, 0];
    for (const one of returns) {
      const scale = Math.sqrt((variance * (TRUE.degrees - 2)) / TRUE.degrees);
      sum -= Math.log(studentTDensity((one - TRUE.mu) / scale, TRUE.degrees) / scale);
      variance = TRUE.omega + TRUE.alpha * (one - TRUE.mu) ** 2 + TRUE.beta * variance;
    }
    const value = createLikelihood(returns, 4)(Float64Array.from(toVariables(TRUE)), new Float64Array(5));
    expect(value).toBeCloseTo(sum / 3, 12);
  });

  it('has the gradient of its differences', () => {
    const likelihood = createLikelihood(simulateReturns(500), 10);
    const at = Float64Array.of(0.2, -1.5, 3, -1.8, 0.7);
    const gradient = new Float64Array(5);
    likelihood(at, gradient);
    for (let index = 0; index < 5; index++) {
      const shifted = (by: number) => likelihood(at.with(index, at[index]! + by), new Float64Array(5));
      expect(gradient[index]).toBeCloseTo((shifted(1e-5) - shifted(-1e-5)) / 2e-5, 6);
    }
  });

  it('finds the parameters of a long simulation', () => {
    const returns = simulateReturns(20_000);
    const { at } = minimize(createLikelihood(returns, 10), toVariables({ ...TRUE, mu: 0, omega: 1, degrees: 8 }), 1e-10);
    const found = toParameters(at);
    expect(found.mu).toBeCloseTo(TRUE.mu, 1);
    expect(found.omega).toBeGreaterThan(0.2);
    expect(found.omega).toBeLessThan(0.4);
    expect(found.alpha).toBeCloseTo(TRUE.alpha, 1);
    expect(found.beta).toBeCloseTo(TRUE.beta, 1);
    expect(found.degrees).toBeGreaterThan(4.3);
    expect(found.degrees).toBeLessThan(6);
  });
});

describe('minimize', () => {
  it('finds the minimum of Rosenbrock', () => {
    const { at, value } = minimize(
      ([x, y], gradient) => {
        gradient.set([-400 * x! * (y! - x! ** 2) - 2 * (1 - x!), 200 * (y! - x! ** 2)]);
        return 100 * (y! - x! ** 2) ** 2 + (1 - x!) ** 2;
      },
      [-1.2, 1],
      1e-16,
    );
    expect(value).toBeLessThan(1e-12);
    expect([...at].every((x) => Math.abs(x - 1) < 1e-5)).toBe(true);
  });

  it('stays at a start without slope', () => {
    expect(minimize(() => 3, [1, 2], 1e-9)).toEqual({ at: Float64Array.of(1, 2), value: 3 });
  });
});
describe('student t', () => {
  it.each([
    [0.975, 1, 12.706204736],
    [0.975, 3, 3.182446305],
    [0.995, 4, 4.604094871],
    [0.9, 30, 1.310415025],
    [0.025, 10, -2.228138852],
    [0.5, 5, 0],
  ])('quantile %d of t with %d degrees is %d', (p, degrees, expected) => {
    expect(studentTQuantile(p, degrees)).toBeCloseTo(expected, 8);
  });

  it('quantile and distribution function of t are inverse', () => {
    for (const degrees of [2.05, 2.9, 3.1, 7.5, 40, 200])
      for (const p of [0.005, 0.01, 0.2, 0.45, 0.505, 0.8, 0.995])
        expect(studentTCdf(studentTQuantile(p, degrees), degrees)).toBeCloseTo(p, 11);
  });

  it('the gamma function of whole numbers is a factorial', () => {
    for (const [x, factorial] of [
      [1, 1],
      [2, 1],
      [5, 24],
      [11, 3_628_800],
    ] as const)
      expect(logGamma(x)).toBeCloseTo(Math.log(factorial), 11);
    expect(logGamma(0.5)).toBeCloseTo(0.5 * Math.log(Math.PI), 12);
  });
});
