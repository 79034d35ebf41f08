import { formatDay } from '../../forecast/day.ts';
import { calibratedLogit } from '../../forecast/fit/calibration.ts';
import { sigmoid } from '../../forecast/fit/logistic.ts';
import { type HorizonModel, type HorizonName, horizonName, MODEL_INPUTS } from '../../forecast/model.ts';
import type { ModelScore } from './inputs.ts';

/** A number a score. */
export type ByScore = Record<ModelScore, number>;

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
  coefficients: ByScore;
  inputMeans: ByScore;
  /** Null for a reader who may not know what open forecasts say. */
  calibration: FitCalibration | null;
}

/**
 * A fit as it is told. Where every P(up) that it can say lies on one side of one half, its calibration alone tells the direction of what
 * is open; and were it withheld there only, that would tell it too. So whoever may not know that (`mayKnow`) is never told it.
 */
export function fitCard(fit: HorizonModel, mayKnow: boolean): FitCard {
  return {
    horizon: horizonName(fit.horizonDays),
    trainedFrom: formatDay(fit.trainFrom),
    trainedTo: formatDay(fit.trainTo),
    trainingDays: fit.nTrain,
    baseRate: fit.baseRate,
    coefficients: byScore(fit.beta.slice(1)),
    inputMeans: byScore(fit.meanX),
    calibration: mayKnow ? calibrationOf(fit) : null,
  };
}

function calibrationOf(fit: HorizonModel): FitCalibration {
  const slopes = fit.beta.slice(1);
  const centre = slopes.reduce((sum, slope, index) => sum - slope * fit.meanX[index], 0);
  const most = slopes.reduce((sum, slope) => sum + Math.abs(slope), 0);
  const pUp = (deviation: number) => sigmoid(calibratedLogit(fit, deviation));
  return { intercept: fit.calA, slope: fit.calB, lowest: pUp(centre - most), highest: pUp(centre + most) };
}

function byScore(values: readonly number[]): ByScore {
  return Object.fromEntries(MODEL_INPUTS.map((name, index) => [name, values[index]])) as ByScore;
}
