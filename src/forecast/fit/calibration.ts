import type { FeatureTable } from '../features/feature-table.ts';
import { type HorizonModel, MODEL_INPUTS } from '../model.ts';
import { fitLogistic, type LogisticProblem, logit } from './logistic.ts';

/** Inverse variances of the priors: shift N(0, .1^2), slope N(.5, .25^2). */
const PRECISION = [100, 16];
const PRIOR_MEAN = [0, 0.5];
/** The prior, used before there is out-of-sample output. */
const DEFAULT_CALIBRATION: Calibration = { calA: 0, calB: 0.5 };

export interface Calibration {
  calA: number;
  /** Clipped to [0, 1]: calibration never flips or amplifies the model's deviation. */
  calB: number;
}

/**
 * Fits logit p = offset + a + b * deviation to out-of-sample output with outcomes; the prior without rows. `design` is 1 and the deviation
 * from the training mean, in log odds; `offset` the log odds of the base rate known at the time.
 */
export function fitCalibration(rows: Omit<LogisticProblem, 'width' | 'precision' | 'priorMean'>): Calibration {
  if (rows.to <= rows.from) return DEFAULT_CALIBRATION;
  const [calA, slope] = fitLogistic({ ...rows, width: 2, precision: PRECISION, priorMean: PRIOR_MEAN });
  return { calA, calB: Math.min(1, Math.max(0, slope)) };
}

export function computeCalibratedLogit(model: Pick<HorizonModel, 'baseRate' | 'calA' | 'calB'>, deviation: number): number {
  return logit(model.baseRate) + model.calA + model.calB * deviation;
}

/** Uncalibrated log odds of a row relative to the mean training day. */
export function computeDeviation(model: Pick<HorizonModel, 'beta' | 'meanX'>, features: FeatureTable, row: number): number {
  let deviation = 0;
  for (let index = 0; index < MODEL_INPUTS.length; index++) {
    deviation += model.beta[index + 1] * (features[MODEL_INPUTS[index]][row] - model.meanX[index]);
  }
  return deviation;
}
