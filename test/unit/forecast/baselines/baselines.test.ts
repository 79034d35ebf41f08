import { describe, expect, it } from 'vitest';
import { computeOutOfSampleFolds } from '../../../../src/forecast/backtest/out-of-sample.ts';
import { BASELINES, CLIMATOLOGY, EWMA, fitGarch, GARCH } from '../../../../src/forecast/baselines.ts';
import { createRandom } from '../../../../src/forecast/bootstrap.ts';
import { computeGridCrps, requireGrid } from '../../../../src/forecast/distribution.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import type { FeatureTable } from '../../../../src/forecast/inputs.ts';
import { meanBy } from '../../../../src/forecast/math.ts';
import { BLOCK_DAYS, getBlockStart, HORIZONS, type HorizonDays, TRAINING_START } from '../../../../src/forecast/model.ts';
import { describeGolden, readGoldenFrame } from '../golden-frame.ts';

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
