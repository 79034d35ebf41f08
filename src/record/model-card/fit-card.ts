import { formatDay } from '../../forecast/day.ts';
import { computeCalibratedLogit } from '../../forecast/fit/calibration.ts';
import { sigmoid } from '../../forecast/fit/logistic.ts';
import { formatHorizonName, type HorizonModel, type HorizonName, MODEL_INPUTS } from '../../forecast/model.ts';
import type { ModelScore } from './model-inputs.ts';

/** A number a score. */
export type NumberByScore = Record<ModelScore, number>;

/** What turns the scores into P(up), and how far that can go. */
export interface FitCalibration {
  /** logit P(up) = logit(baseRate) + intercept + slope * sum of coefficient * (score - mean). */
  intercept: number;
  slope: number;
  /** Lowest and highest P(up) that can come of it, whatever the scores, each of which lies in [-1, 1]. */
  lowest: number;
  highest: number;
}

/** One horizon's fit of a stored model. */
export interface FitCard {
  horizon: HorizonName;
  /** `YYYY-MM-DD`. */
  trainedFrom: string;
  trainedTo: string;
  trainingDays: number;
  baseRate: number;
  coefficients: NumberByScore;
  inputMeans: NumberByScore;
  /** Null for a reader who may not know what open forecasts say. */
  calibration: FitCalibration | null;
}

/**
 * A fit as it is told. Where every P(up) that it can say lies on one side of one half, its calibration alone tells the direction of what
 * is open; and were it withheld there only, that would tell it too. So whoever may not know that (`mayKnow`) is never told it.
 */
export function buildFitCard(fit: HorizonModel, mayReadCalibration: boolean): FitCard {
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

function describeCalibration(fit: HorizonModel): FitCalibration {
  const slopes = fit.beta.slice(1);
  const centre = slopes.reduce((sum, slope, index) => sum - slope * fit.meanX[index], 0);
  const maxDeviation = slopes.reduce((sum, slope) => sum + Math.abs(slope), 0);
  const pUp = (deviation: number) => sigmoid(computeCalibratedLogit(fit, deviation));
  return { intercept: fit.calA, slope: fit.calB, lowest: pUp(centre - maxDeviation), highest: pUp(centre + maxDeviation) };
}

function toNumberByScore(values: readonly number[]): NumberByScore {
  return Object.fromEntries(MODEL_INPUTS.map((name, index) => [name, values[index]])) as NumberByScore;
}
