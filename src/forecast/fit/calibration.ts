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

/** Out-of-sample output; `deviations` in log odds from the training mean. */
type CalibrationRows = Omit<LogisticProblem, 'design' | 'precision' | 'priorMean'> & { deviations: Float64Array };

/**
 * Fits logit p = offset + a + b * deviation to out-of-sample output with outcomes; the prior without rows.
 * `offset` is the log odds of the base rate known at the time.
 */
export function fitCalibration({ deviations, ...rows }: CalibrationRows): Calibration {
  if (rows.to <= rows.from) return DEFAULT_CALIBRATION;
  const design = [new Float64Array(deviations.length).fill(1), deviations];
  const [calA, slope] = fitLogistic({ ...rows, design, precision: PRECISION, priorMean: PRIOR_MEAN });
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
