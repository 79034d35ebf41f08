import type { FeatureTable } from '../features/feature-table.ts';
import { MODEL_INPUTS } from '../model.ts';
import { fitLogistic, logit } from './logistic.ts';

/** Inverse variances of the priors: shift N(0, .1^2), slope N(.5, .25^2). */
const PRECISION = [100, 16];
const PRIOR_MEAN = [0, 0.5];

/** Without any out-of-sample output yet, calibration is its prior. */
const DEFAULT_CALIBRATION: Calibration = { calA: 0, calB: 0.5 };

export interface Calibration {
  calA: number;
  /** Clipped to [0, 1]: never against the model's sign, never beyond its own conviction. */
  calB: number;
}

/** Rows of out-of-sample output with their outcomes. */
export interface CalibrationRows {
  /** Two numbers a row: 1 and the deviation from the training mean, in log odds. */
  design: Float64Array;
  /** Log odds of the base rate that was known then. */
  offset: Float64Array;
  labels: Float64Array;
  weights: Float64Array;
  from: number;
  to: number;
}

/** Fits logit p = offset + a + b * deviation; the prior itself where there are no rows. */
export function fitCalibration(rows: CalibrationRows): Calibration {
  if (rows.to <= rows.from) return DEFAULT_CALIBRATION;
  const [calA, slope] = fitLogistic({ ...rows, width: 2, precision: PRECISION, priorMean: PRIOR_MEAN });
  return { calA, calB: Math.min(1, Math.max(0, slope)) };
}

/** Log odds of a calibrated forecast. */
export function computeCalibratedLogit(model: { baseRate: number; calA: number; calB: number }, deviation: number): number {
  return logit(model.baseRate) + model.calA + model.calB * deviation;
}

/** Log odds that a row's scores add to those of an average training day, uncalibrated. */
export function computeDeviation(
  model: { beta: readonly number[]; meanX: readonly number[] },
  features: FeatureTable,
  row: number,
): number {
  let deviation = 0;
  for (let index = 0; index < MODEL_INPUTS.length; index++) {
    deviation += model.beta[index + 1] * (features[MODEL_INPUTS[index]][row] - model.meanX[index]);
  }
  return deviation;
}
