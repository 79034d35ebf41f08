import { type FitSettings, MODEL_SETTINGS } from '../../fit/settings.ts';
import { MODEL_INPUTS, MODEL_NAME } from '../../model.ts';

/** An alternative model, fitted by the same walk-forward. */
export interface Variant {
  id: string;
  change: string;
  settings: FitSettings;
}

type Inputs = FitSettings['inputs'];
const PRICE_INPUTS: Inputs = ['trend', 'momentum', 'vol'];
const COMBINATIONS: readonly Inputs[] = [['trend', 'momentum'], ['trend', 'vol'], ['momentum', 'vol'], ['flow', 'value'], PRICE_INPUTS];
const UNCALIBRATED = { calibration: { calA: 0, calB: 1 } };
const BASE_RATE_ALONE = { inputs: [], calibration: { calA: 0, calB: 0 } };
const LAST_BASE_RATE = { ...BASE_RATE_ALONE, trainingDays: 1461 };

/** The model, first, and the variants that this code can fit. */
export const VARIANTS: readonly Variant[] = [
  buildVariant(MODEL_NAME, 'the model as served', {}),
  ...[1, 4, 64, 256, 1024].map(ridgeVariant),
  ...MODEL_INPUTS.map(withoutInputVariant),
  ...[...MODEL_INPUTS.map((name) => [name]), ...COMBINATIONS].map(onlyInputsVariant),
  ...[0.25, 0.5, 0.75, 1].map(uncalibratedVariant),
  ...[0, 25, 100, 400].map(baseRateVariant),
  ...[1095, 1461, 2192, 2922].map(recentDaysVariant),
  ...[365, 730, 1461].map(halfLifeVariant),
  buildVariant('base-rate-last-1461-days', 'base rate of the last 1461 training days, without scores', LAST_BASE_RATE),
  buildVariant('ridge-256-slope-1', 'slope prior of precision 256, not calibrated', { slopePrecision: 256, ...UNCALIBRATED }),
  buildVariant('only-price-slope-1', 'reads only trend, momentum, vol; not calibrated', { inputs: PRICE_INPUTS, ...UNCALIBRATED }),
  buildVariant('last-1461-days-slope-1', 'trained on the last 1461 days only, not calibrated', { trainingDays: 1461, ...UNCALIBRATED }),
];

function buildVariant(id: string, change: string, settings: Partial<FitSettings>): Variant {
  return { id, change, settings: { ...MODEL_SETTINGS, ...settings } };
}

function ridgeVariant(slopePrecision: number): Variant {
  return buildVariant(`ridge-${slopePrecision}`, `slope prior of precision ${slopePrecision} instead of 16`, { slopePrecision });
}

function withoutInputVariant(left: Inputs[number]): Variant {
  return buildVariant(`without-${left}`, `does not read ${left}`, { inputs: MODEL_INPUTS.filter((name) => name !== left) });
}

function onlyInputsVariant(inputs: Inputs): Variant {
  return buildVariant(`only-${inputs.join('-')}`, `reads only ${inputs.join(', ')}`, { inputs });
}

function uncalibratedVariant(calB: number): Variant {
  const change = `not calibrated, deviations from the base rate scaled by ${calB}`;
  return buildVariant(`slope-${calB}`, change, { calibration: { calA: 0, calB } });
}

function baseRateVariant(pseudoCount: number): Variant {
  const change = `base rate without scores, shrunk by Beta(${pseudoCount}, ${pseudoCount})`;
  return buildVariant(`base-rate-${pseudoCount}`, change, { ...BASE_RATE_ALONE, pseudoCount });
}

function recentDaysVariant(trainingDays: number): Variant {
  return buildVariant(`last-${trainingDays}-days`, `trained on the last ${trainingDays} days only`, { trainingDays });
}

function halfLifeVariant(halfLifeDays: number): Variant {
  return buildVariant(`half-life-${halfLifeDays}-days`, `training weights with a half-life of ${halfLifeDays} days`, { halfLifeDays });
}
