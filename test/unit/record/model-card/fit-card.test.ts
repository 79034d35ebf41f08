import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeDeviation, logit, sigmoid } from '../../../../src/forecast/fit.ts';
import type { FeatureTable } from '../../../../src/forecast/inputs.ts';
import { type HorizonModel, MODEL_INPUTS } from '../../../../src/forecast/model.ts';
import { buildFitCard } from '../../../../src/record/model-card.ts';
import { between } from '../../../support/record/arbitraries.ts';

const FIT: HorizonModel = {
  modelVersion: 'm0-d1.2026-02-25',
  block: 18,
  horizonDays: 7,
  trainFrom: 15_340,
  trainTo: 20_000,
  nTrain: 4_661,
  baseRate: 0.55,
  beta: [0.2, 0.12, 0.16, 0.14, 0.02, -0.01],
  meanX: [0.2, 0.1, 0.05, -0.1, 0.01],
  calA: -0.04,
  calB: 0.5,
  residualQuantiles: [],
};

const score = between(-1, 1);
const number = between(-1, 1);
const five = (each: fc.Arbitrary<number>) => fc.tuple(each, each, each, each, each);

describe('the card of a fit', () => {
  it('has all parameters to compute P(up) from the five scores by its formula', () => {
    const { baseRate, coefficients, inputMeans, calibration } = buildFitCard(FIT, true);
    const scores = { trend: 0.4, momentum: -0.2, flow: 0.9, value: 0, vol: -0.7 };
    const sum = MODEL_INPUTS.reduce((total, name) => total + coefficients[name] * (scores[name] - inputMeans[name]), 0);
    const table = Object.fromEntries(MODEL_INPUTS.map((name) => [name, Float64Array.of(scores[name])])) as unknown as FeatureTable;
    expect(sum).toBeCloseTo(computeDeviation(FIT, table, 0), 12);
    const pUp = sigmoid(logit(baseRate) + calibration!.intercept + calibration!.slope * sum);
    expect(pUp).toBeGreaterThan(0.5);
    expect(pUp).toBeLessThan(0.6);
  });

  it('bounds P(up), and no scores exceed the bounds', () => {
    fc.assert(
      fc.property(five(number), five(score), five(score), between(0, 1), (slopes, means, scores, calB) => {
        const fit = { ...FIT, beta: [0, ...slopes], meanX: means, calB };
        const { lowest, highest } = buildFitCard(fit, true).calibration!;
        const sum = slopes.reduce((total, slope, index) => total + slope * (scores[index] - means[index]), 0);
        const pUp = sigmoid(logit(fit.baseRate) + fit.calA + calB * sum);
        expect(pUp).toBeGreaterThanOrEqual(lowest - 1e-12);
        expect(pUp).toBeLessThanOrEqual(highest + 1e-12);
      }),
    );
  });

  it.each([
    ['which always says UP', { calB: 0 }],
    ['which says UP whatever the scores', { baseRate: 0.8 }],
    ['which always says DOWN', { calB: 0, baseRate: 0.4 }],
    ['which can say both', {}],
  ])('hides the calibration of a fit %s from callers that may not read open forecasts', (_, change) => {
    const fit = { ...FIT, ...change };
    const publicCard = buildFitCard(fit, false);
    expect(publicCard.calibration).toBeNull();
    expect(publicCard).toMatchObject({
      horizon: '7d',
      trainedFrom: '2012-01-01',
      trainedTo: '2024-10-04',
      trainingDays: 4_661,
      baseRate: fit.baseRate,
      coefficients: { trend: 0.12 },
      inputMeans: { vol: 0.01 },
    });
    expect(buildFitCard(fit, true)).toEqual({
      ...publicCard,
      calibration: { intercept: -0.04, slope: fit.calB, lowest: expect.any(Number), highest: expect.any(Number) },
    });
  });

  it('is the same for callers without access, whatever the calibration', () => {
    fc.assert(
      fc.property(number, between(0, 1), (calA, calB) => {
        expect(buildFitCard({ ...FIT, calA, calB }, false)).toEqual(buildFitCard(FIT, false));
      }),
    );
  });
});
