import { describe, expect, it } from 'vitest';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { type FitSettings, fitModel, MODEL_SETTINGS, walkForward } from '../../../../src/forecast/fit.ts';
import { type HorizonDays, MODEL_INPUTS } from '../../../../src/forecast/model.ts';
import { syntheticFrame } from '../synthetic-frame.ts';

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
