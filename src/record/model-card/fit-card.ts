import { formatDay } from '../../forecast/day.ts';
import { computeCalibratedLogit } from '../../forecast/fit/calibration.ts';
import { sigmoid } from '../../forecast/fit/logistic.ts';
import { formatHorizonName, type HorizonModel, MODEL_INPUTS } from '../../forecast/model.ts';
import type { ModelScore } from './model-inputs.ts';

/** `calibration` is null for a caller that may not read open forecasts. */
export type FitCard = ReturnType<typeof buildFitCard>;

export type FitCalibration = ReturnType<typeof describeCalibration>;

/** Calibration may disclose open directions; withholding it only then would too, so that callers without access never get it. */
export function buildFitCard(fit: HorizonModel, mayReadCalibration: boolean) {
  return {
    horizon: formatHorizonName(fit.horizonDays),
    trainedFrom: formatDay(fit.trainFrom),
    trainedTo: formatDay(fit.trainTo),
    trainingDays: fit.nTrain,
    baseRate: fit.baseRate,
    coefficients: toNumberByScore(fit.beta.slice(1)),
    inputMeans: toNumberByScore(fit.meanX),
    calibration: mayReadCalibration ? describeCalibration(fit) : null,
  };
}

/** logit P(up) = logit(baseRate) + intercept + slope * sum of coefficient * (score - mean); bounds for scores in [-1, 1]. */
function describeCalibration(fit: HorizonModel) {
  const slopes = fit.beta.slice(1);
  const centre = slopes.reduce((sum, slope, index) => sum - slope * fit.meanX[index], 0);
  const maxDeviation = slopes.reduce((sum, slope) => sum + Math.abs(slope), 0);
  const pUp = (deviation: number) => sigmoid(computeCalibratedLogit(fit, deviation));
  return { intercept: fit.calA, slope: fit.calB, lowest: pUp(centre - maxDeviation), highest: pUp(centre + maxDeviation) };
}

export function toNumberByScore(values: readonly number[]): Record<ModelScore, number> {
  return Object.fromEntries(MODEL_INPUTS.map((name, index) => [name, values[index]])) as Record<ModelScore, number>;
}
