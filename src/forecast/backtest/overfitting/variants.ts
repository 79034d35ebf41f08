import { type FitSettings, MODEL_SETTINGS } from '../../fit/settings.ts';
import { MODEL_INPUTS, MODEL_NAME } from '../../model.ts';

/** A model that could have been chosen instead, fitted by the same walk forward. */
export interface Variant {
  /** Does not change: results are compared by it. */
  id: string;
  /** What is different from the model, in words. */
  change: string;
  settings: FitSettings;
}

type Inputs = FitSettings['inputs'];

const COMBINATIONS: readonly Inputs[] = [
  ['trend', 'momentum'],
  ['trend', 'vol'],
  ['momentum', 'vol'],
  ['flow', 'value'],
  ['trend', 'momentum', 'vol'],
];
const UNCALIBRATED = { calibration: { calA: 0, calB: 1 } };
const BASE_RATE_ALONE = { inputs: [], calibration: { calA: 0, calB: 0 } };

/** The model itself, first, and other variants of it that this code can fit. */
export const VARIANTS: readonly Variant[] = [
  variant(MODEL_NAME, 'the model as it is served', {}),
  ...[1, 4, 64, 256, 1024].map(shrunk),
  ...MODEL_INPUTS.map(without),
  ...[...MODEL_INPUTS.map((name) => [name]), ...COMBINATIONS].map(only),
  ...[0.25, 0.5, 0.75, 1].map(uncalibrated),
  ...[0, 25, 100, 400].map(baseRate),
  ...[1095, 1461, 2192, 2922].map(recent),
  ...[365, 730, 1461].map(fading),
  variant('base-rate-last-1461-days', 'reads no score: says the base rate of the last 1461 training days', {
    ...BASE_RATE_ALONE,
    trainingDays: 1461,
  }),
  variant('ridge-256-slope-1', 'slopes shrunk by a prior of precision 256, not calibrated', { slopePrecision: 256, ...UNCALIBRATED }),
  variant('only-price-slope-1', 'reads nothing but trend, momentum, vol; not calibrated', {
    inputs: ['trend', 'momentum', 'vol'],
    ...UNCALIBRATED,
  }),
  variant('last-1461-days-slope-1', 'learns from the last 1461 training days only, not calibrated', {
    trainingDays: 1461,
    ...UNCALIBRATED,
  }),
];

function variant(id: string, change: string, settings: Partial<FitSettings>): Variant {
  return { id, change, settings: { ...MODEL_SETTINGS, ...settings } };
}

function shrunk(slopePrecision: number): Variant {
  return variant(`ridge-${slopePrecision}`, `slopes shrunk by a prior of precision ${slopePrecision} instead of 16`, { slopePrecision });
}

function without(left: Inputs[number]): Variant {
  return variant(`without-${left}`, `does not read ${left}`, { inputs: MODEL_INPUTS.filter((name) => name !== left) });
}

function only(inputs: Inputs): Variant {
  return variant(`only-${inputs.join('-')}`, `reads nothing but ${inputs.join(', ')}`, { inputs });
}

function uncalibrated(calB: number): Variant {
  return variant(`slope-${calB}`, `not calibrated: deviations from the base rate are taken times ${calB}`, {
    calibration: { calA: 0, calB },
  });
}

function baseRate(pseudoCount: number): Variant {
  const change = `reads no score: says the base rate, shrunk by Beta(${pseudoCount}, ${pseudoCount})`;
  return variant(`base-rate-${pseudoCount}`, change, { ...BASE_RATE_ALONE, pseudoCount });
}

function recent(trainingDays: number): Variant {
  return variant(`last-${trainingDays}-days`, `learns from the last ${trainingDays} training days only`, { trainingDays });
}

function fading(halfLifeDays: number): Variant {
  return variant(`half-life-${halfLifeDays}-days`, `a training day loses half its weight every ${halfLifeDays} days`, { halfLifeDays });
}
