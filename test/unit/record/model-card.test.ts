import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeFeatures } from '../../../src/forecast/features.ts';
import { computeDeviation, logit, sigmoid } from '../../../src/forecast/fit.ts';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, type FeatureTable, type InputFrame } from '../../../src/forecast/inputs.ts';
import { HORIZONS, type HorizonModel, MODEL_INPUTS } from '../../../src/forecast/model.ts';
import { REGIME_NAMES, REGIME_RULES, REGIME_THRESHOLDS } from '../../../src/forecast/regime.ts';
import { getLicences } from '../../../src/http/routes/info.ts';
import { PROVIDER_IDS, PROVIDERS } from '../../../src/market/live/provider.ts';
import { getProviderIds } from '../../../src/market/sources/registry.ts';
import { buildFitCard, countIndependentCallsPerYear, MODEL_INPUT_SERIES } from '../../../src/record/model-card.ts';
import { between } from '../../support/record/arbitraries.ts';

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
const DAYS = 600;
const wave = (index: number, step: number) => Math.sin(index * step) + Math.sin(index * index * 0.01);
const column = (base: number, size: number, step: number) => Float64Array.from({ length: DAYS }, (_, i) => base + size * wave(i, step));
const business = (base: number, size: number, step: number) => ({
  days: Int32Array.from({ length: DAYS }, (_, i) => i),
  values: column(base, size, step),
});

const FRAME: InputFrame = {
  firstDay: 0,
  close: column(1_000, 100, 0.05),
  fearGreed: column(50, 20, 0.03),
  realizedPrice: column(800, 30, 0.02),
  takerBuyFraction: column(0.5, 0.02, 0.4),
  fundingRate: column(0.0001, 0.00004, 0.3),
  gold: column(2_000, 50, 0.07),
  pmi: column(50, 3, 0.2),
  high: column(1_100, 100, 0.05),
  low: column(950, 100, 0.05),
  etfFlow: business(50, 200, 0.6),
  sp500: business(4_000, 90, 0.04),
  dxy: business(100, 2, 0.06),
};

/** The frame with one input doubled where it is daily, and with other flows and prices where it is not. */
function changed(name: keyof InputFrame): InputFrame {
  if ((DAILY_COLUMNS as readonly string[]).includes(name)) {
    return { ...FRAME, [name]: (FRAME[name] as Float64Array).map((value, index) => value * (1 + index / DAYS)) };
  }
  const { days, values } = FRAME[name as (typeof BUSINESS_DAY_COLUMNS)[number]];
  return { ...FRAME, [name]: { days, values: values.map((value, index) => value * (1 + index / DAYS)) } };
}

const SERIES_OF = { close: 'btcClose', high: 'btcHigh', low: 'btcLow' } as Record<string, string>;

describe('the inputs of the model card', () => {
  it.each([...DAILY_COLUMNS, ...BUSINESS_DAY_COLUMNS])('name exactly the scores that %s enters', (name) => {
    const before = computeFeatures(FRAME);
    const after = computeFeatures(changed(name));
    const moved = MODEL_INPUTS.filter((score) => before[score].some((value, row) => value !== after[score][row]));
    const input = MODEL_INPUT_SERIES.find(({ series }) => series === (SERIES_OF[name] ?? name))!;
    expect(input.enters).toEqual(moved);
  });

  it('include the attribution that providers require', () => {
    for (const id of PROVIDER_IDS) expect(PROVIDERS[id].licence.length, id).toBeGreaterThan(5);
    for (const { series } of MODEL_INPUT_SERIES) {
      const providers = getProviderIds(series).map((provider) => ({ provider }));
      const licences = getLicences({ kind: 'live', source: 'live' }, providers);
      expect(licences.map(({ of }) => of)).toEqual(providers.map(({ provider }) => PROVIDERS[provider].title));
      expect(licences.length).toBeGreaterThan(0);
    }
    expect(getLicences({ kind: 'simulated', source: 'simulated (seed 2)' }, [])).toEqual([
      { of: 'simulated (seed 2)', licence: expect.stringContaining('simulated') },
    ]);
    expect(getLicences({ kind: 'csv', source: 'csv:history' }, [])[0].licence).toContain('unknown');
  });
});

describe('the statements of the model card', () => {
  it('have a rule for each regime, and each limit in one of them', () => {
    const rules = REGIME_NAMES.map((regime) => REGIME_RULES[regime]);
    expect(rules.every((rule) => rule.length > 0)).toBe(true);
    for (const [name, limit] of Object.entries(REGIME_THRESHOLDS)) expect(rules.join(' '), name).toContain(`${limit}`);
  });

  it('count overlapping calls below their number', () => {
    const worth = HORIZONS.map(countIndependentCallsPerYear);
    expect(worth[0]).toBe(365);
    expect(worth.toSorted((a, b) => b - a)).toEqual(worth);
    expect(worth.at(-1)).toBeGreaterThan(365 / 7);
    expect(worth.at(-1)).toBeLessThan(80);
  });
});
