import { describe, expect, it } from 'vitest';
import { isOracleError } from '../../../../src/errors.ts';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { fitModel, walkForward } from '../../../../src/forecast/fit.ts';
import { sliceFrame } from '../../../../src/forecast/inputs.ts';
import { getBlockStart, getTrainingEnd, HORIZONS, type HorizonDays, type HorizonModel } from '../../../../src/forecast/model.ts';
import { describeGolden, readGolden, readGoldenFrame } from '../golden-frame.ts';
import { syntheticFrame } from '../synthetic-frame.ts';

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
