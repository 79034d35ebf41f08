import { formatDay } from '../../forecast/day.ts';
import { type HorizonModel, MODEL_INPUTS, MODEL_NAME } from '../../forecast/model.ts';
import type { ModelDoc } from '../model-store.ts';
import type { MadeForecast } from './made-forecast.ts';

type NumberByInput = Record<(typeof MODEL_INPUTS)[number], number>;

/** The fit that a forecast was made with: enough to compute P(up) from the five scores. */
export interface ModelDetails {
  version: string;
  method: string;
  /** First and last day that was learned from, `YYYY-MM-DD`, and how many. */
  trainFrom: string;
  trainTo: string;
  trainingDays: number;
  /** Shrunk share of rises among these days. */
  baseRate: number;
  /** What the forecast is measured against: the base rate, as it was stored with it. */
  climatology: number;
  coefficients: { intercept: number } & NumberByInput;
  /** Means of the inputs over the training days, from which deviations are taken. */
  inputMeans: NumberByInput;
  /** logit P(up) = logit(baseRate) + intercept + slope * deviation. */
  calibration: { intercept: number; slope: number };
  trainingDigest: string;
  trials: number;
}

/** The fit of the stored model that a forecast was made with. */
export function buildModelDetails({ horizons, trainingDigest, trials }: ModelDoc, { horizonDays, values }: MadeForecast): ModelDetails {
  const fit = horizons.find((candidate) => candidate.horizonDays === horizonDays) as HorizonModel;
  const [intercept, ...slopes] = fit.beta;
  return {
    version: fit.modelVersion,
    method: MODEL_NAME,
    trainFrom: formatDay(fit.trainFrom),
    trainTo: formatDay(fit.trainTo),
    trainingDays: fit.nTrain,
    baseRate: fit.baseRate,
    climatology: values.climatology,
    coefficients: { intercept, ...toNumberByInput(slopes) },
    inputMeans: toNumberByInput(fit.meanX),
    calibration: { intercept: fit.calA, slope: fit.calB },
    trainingDigest,
    trials,
  };
}

function toNumberByInput(values: readonly number[]): NumberByInput {
  return Object.fromEntries(MODEL_INPUTS.map((name, index) => [name, values[index]])) as NumberByInput;
}
