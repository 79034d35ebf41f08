import { describe, expect, it } from 'vitest';
import { isOracleError } from '../../../src/errors.ts';
import { formatDay, parseDay } from '../../../src/forecast/day.ts';
import { computeFeatures } from '../../../src/forecast/features.ts';
import {
  computeBaseRate,
  type FitSettings,
  fitCalibration,
  fitLogistic,
  fitModel,
  logit,
  MODEL_SETTINGS,
  sigmoid,
  walkForward,
} from '../../../src/forecast/fit.ts';
import { sliceFrame } from '../../../src/forecast/inputs.ts';
import { getBlockStart, getTrainingEnd, HORIZONS, type HorizonDays, type HorizonModel, MODEL_INPUTS } from '../../../src/forecast/model.ts';
import { describeGolden, readGolden, readGoldenFrame } from './golden-frame.ts';
import { seededRandom, syntheticFrame } from './synthetic-frame.ts';

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
describe('settings', () => {
  const frame = syntheticFrame({ rows: 1700 });
  const features = computeFeatures(frame);
  const source = { closes: frame.close, features, horizon: 3 as HorizonDays };
  const BLOCK = 4;

  const fitWith = (settings: Partial<FitSettings>) => fitModel({ ...source, block: BLOCK, settings: { ...MODEL_SETTINGS, ...settings } });
  const sizeOf = ({ beta }: { beta: readonly number[] }) => Math.hypot(...beta.slice(1));

  describe('the settings of a fit', () => {
    const model = fitModel({ ...source, block: BLOCK });

    it('default to those of the model', () => {
      expect(fitWith({})).toEqual(model);
    });

    it('give omitted scores a slope of exactly 0, as for a score that is always 0', () => {
      const silent = { ...features, flow: new Float64Array(features.length) };
      const without = fitWith({ inputs: MODEL_INPUTS.filter((name) => name !== 'flow') });
      expect(without.beta[1 + MODEL_INPUTS.indexOf('flow')]).toBe(0);
      expect(without).toEqual(fitModel({ ...source, features: silent, block: BLOCK }));
    });

    it('shrink slopes more at higher precision', () => {
      const sizes = [1, 16, 256].map((slopePrecision) => sizeOf(fitWith({ slopePrecision })));
      expect(sizes[1]).toBe(sizeOf(model));
      expect(sizes[0]).toBeGreaterThan(sizes[1]);
      expect(sizes[1]).toBeGreaterThan(sizes[2]);
    });

    it('shrink the base rate towards one half', () => {
      const distances = [0, 25, 400].map((pseudoCount) => Math.abs(fitWith({ pseudoCount }).baseRate - 0.5));
      expect(distances[0]).toBeGreaterThan(distances[1]);
      expect(distances[1]).toBeGreaterThan(distances[2]);
    });

    it('use a given calibration', () => {
      expect(fitWith({ calibration: { calA: 0.1, calB: 0.7 } })).toEqual({ ...model, calA: 0.1, calB: 0.7 });
      const fits = walkForward({ ...source, settings: { ...MODEL_SETTINGS, calibration: { calA: 0, calB: 0 } } });
      for (const { model: fitted, pUp } of fits) {
        for (const p of pUp) expect(p).toBeCloseTo(fitted.baseRate, 12);
      }
    });

    it('ignore days before the training period', () => {
      const changed = features.firstDay + 300;
      const closes = frame.close.map((close, row) => (row + features.firstDay < changed ? close * (row % 2 === 0 ? 2 : 0.5) : close));
      const recent = { trainingDays: 500, calibration: { calA: 0, calB: 1 } };
      const settings = { ...MODEL_SETTINGS, ...recent };
      const { residualQuantiles: _, ...fitted } = fitWith(recent);
      expect(fitted).toMatchObject({ nTrain: 500, trainFrom: fitted.trainTo - 499 });
      expect(fitModel({ ...source, closes, block: BLOCK, settings })).toMatchObject(fitted);
      expect(fitModel({ ...source, closes, block: BLOCK }).beta).not.toEqual(model.beta);
    });

    it('weight days by the half-life: little change for a long one, only the newest days for a short one', () => {
      expect(fitWith({ halfLifeDays: 1e9 }).baseRate).toBeCloseTo(model.baseRate, 6);
      const { trainTo } = model;
      const lately = (days: number) => {
        const rows = Array.from({ length: days }, (_, index) => trainTo - features.firstDay - index);
        return rows.filter((row) => frame.close[row + 3] > frame.close[row]).length / days;
      };
      const short = fitWith({ halfLifeDays: 2, pseudoCount: 0 }).baseRate;
      expect(Math.abs(short - lately(6))).toBeLessThan(0.25);
      expect(fitWith({ halfLifeDays: 200 }).baseRate).not.toBeCloseTo(model.baseRate, 4);
    });
  });
});

describe('walk forward', () => {
  const frame = syntheticFrame({ rows: 1700 });
  const features = computeFeatures(frame);
  const source = { closes: frame.close, features, horizon: 7 as HorizonDays };

  function thrownBy(action: () => unknown): unknown {
    try {
      action();
    } catch (error) {
      return error;
    }
    throw new Error('nothing was thrown');
  }

  /** The fit after the closes from a day on were replaced; features stay, so that only labels can carry the change. */
  function fitWithClosesChangedFrom(day: number, block: number): HorizonModel {
    const closes = frame.close.map((close, row) => (row + frame.firstDay >= day ? close * (row % 2 === 0 ? 3 : 0.3) : close));
    return fitModel({ ...source, closes, block });
  }

  describe('walkForward', () => {
    const fits = walkForward(source);

    it('skips blocks with less than two years of training and ends with the block of the last row', () => {
      expect(fits.map(({ model }) => model.block)).toEqual([1, 2, 3, 4]);
      expect(fits[0].model).toMatchObject({ modelVersion: 'm0-d1.2017-09-30', calA: 0, calB: 0.5, horizonDays: 7 });
      expect(formatDay(fits[0].model.trainFrom)).toBe('2015-07-29');
      expect(fits[0].model.nTrain).toBe(fits[0].model.trainTo - fits[0].model.trainFrom + 1);
    });

    it('covers the days of each block, the last partially', () => {
      for (const { model, from, to, pUp } of fits) {
        expect(from + frame.firstDay).toBe(getBlockStart(model.block));
        expect(pUp).toHaveLength(to - from);
        expect(pUp.every((p) => p > 0 && p < 1)).toBe(true);
      }
      expect(fits.at(-1)!.to).toBe(frame.close.length);
    });

    it('stays within the limits of its priors', () => {
      for (const { model } of fits) {
        expect(model.calB).toBeGreaterThanOrEqual(0);
        expect(model.calB).toBeLessThanOrEqual(1);
        expect(model.baseRate).toBeGreaterThan(0);
        expect(model.baseRate).toBeLessThan(1);
        expect(model.residualQuantiles).toHaveLength(199);
        expect([...model.residualQuantiles].sort((a, b) => a - b)).toEqual(model.residualQuantiles);
      }
    });

    it('fits the same model regardless of the last block', () => {
      for (const { model } of fits) expect(fitModel({ ...source, block: model.block })).toEqual(model);
    });

    it('converges when all labels agree', () => {
      const rising = frame.close.map((_, row) => 100 * 1.001 ** row * (1 + 0.0001 * (row % 2)));
      const { model } = walkForward({ ...source, closes: rising }).at(-1)!;
      expect(model.baseRate).toBeGreaterThan(0.8);
      expect(model.beta.every(Number.isFinite)).toBe(true);
      for (const slope of model.beta.slice(1)) expect(Math.abs(slope)).toBeLessThan(1e-6);
    });
  });

  describe('the purge', () => {
    const block = 3;
    const lastLabel = getTrainingEnd(block, 7) + 7 - 1;

    it('ignores closes from the embargo on', () => {
      expect(fitWithClosesChangedFrom(lastLabel + 1, block)).toEqual(fitModel({ ...source, block }));
      expect(getBlockStart(block) - lastLabel).toBe(8);
    });

    it('detects a purge that is one day short', () => {
      expect(fitWithClosesChangedFrom(lastLabel, block).beta).not.toEqual(fitModel({ ...source, block }).beta);
    });

    it('fits the same model when the history ends with the last label', () => {
      const cut = sliceFrame(frame, lastLabel);
      expect(fitModel({ closes: cut.close, features: computeFeatures(cut), horizon: 7, block })).toEqual(fitModel({ ...source, block }));
    });
  });

  describe('a history that is too short', () => {
    it('reports available and required days', () => {
      const error = thrownBy(() => fitModel({ ...source, block: 0 }));
      expect(isOracleError(error, 'HISTORY_TOO_SHORT')).toBe(true);
      expect((error as Error).message).toBe(
        'm0-d1.2017-04-03 needs 730 training days; a history from 2015-01-01 gives 600, from 2015-07-29 on',
      );
    });

    it('reports a history that ends before the last label', () => {
      const cut = sliceFrame(frame, getBlockStart(3) - 9);
      const error = thrownBy(() => fitModel({ closes: cut.close, features: computeFeatures(cut), horizon: 7, block: 3 }));
      expect(isOracleError(error, 'HISTORY_TOO_SHORT')).toBe(true);
      expect((error as Error).message).toBe('m0-d1.2018-09-25 trains on closes until 2018-09-17; the history ends on 2018-09-16');
    });

    it('rejects closes of another length and constant prices', () => {
      expect(
        isOracleError(
          thrownBy(() => fitModel({ ...source, closes: frame.close.subarray(1), block: 3 })),
          'INPUT_INVALID',
        ),
      ).toBe(true);
      const still = { ...frame, close: frame.close.map(() => 100) };
      const flat = { closes: still.close, features: computeFeatures(still), horizon: 7 as HorizonDays, block: 3 };
      expect(
        isOracleError(
          thrownBy(() => fitModel(flat)),
          'INPUT_INVALID',
        ),
      ).toBe(true);
    });
  });

  interface GoldenBlock {
    block: number;
    train_from: string;
    train_to: string;
    test_from: string;
    test_to: string;
    n_train: number;
    base: number;
    beta: number[];
    mean_x: number[];
    cal_a: number;
    cal_b: number;
  }

  const relativeError = (actual: number, expected: number) => (actual === expected ? 0 : Math.abs(actual / expected - 1));

  describeGolden('fits on real history', () => {
    const real = readGoldenFrame();
    const table = computeFeatures(real);
    const golden = readGolden<Record<string, GoldenBlock[]>>('model_coefficients.json');

    it.each([2, 3, 7] as const)('equal the reference within 1e-7 at %d days', (horizon) => {
      const fits = walkForward({ closes: real.close, features: table, horizon });
      expect(fits.map(({ model }) => model.block)).toEqual(Array.from({ length: 26 }, (_, index) => index - 6));
      for (const expected of golden[`${horizon}d`]) {
        const { model, from, to } = fits.find((fit) => fit.model.block === expected.block)!;
        expect([formatDay(model.trainFrom), formatDay(model.trainTo)]).toEqual([expected.train_from, expected.train_to]);
        expect([real.firstDay + from, real.firstDay + to - 1]).toEqual([expected.test_from, expected.test_to].map(parseDay));
        expect(model.nTrain).toBe(expected.n_train);
        const actual = [model.baseRate, model.calA, model.calB, ...model.beta, ...model.meanX];
        [expected.base, expected.cal_a, expected.cal_b, ...expected.beta, ...expected.mean_x].forEach((value, index) => {
          expect(relativeError(actual[index], value), `${horizon}d block ${expected.block} number ${index}`).toBeLessThan(1e-7);
        });
      }
    });

    it('fit the next block as soon as its last label is known', () => {
      for (const horizon of HORIZONS) {
        const cut = sliceFrame(real, getBlockStart(19) - 8);
        const early = fitModel({ closes: cut.close, features: computeFeatures(cut), horizon, block: 19 });
        expect(early).toEqual(fitModel({ closes: real.close, features: table, horizon, block: 19 }));
        expect(early.modelVersion).toBe('m0-d1.2026-08-14');
      }
    });
  });
});
