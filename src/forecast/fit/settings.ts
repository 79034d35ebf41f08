import { MODEL_INPUTS } from '../model.ts';
import type { Calibration } from './calibration.ts';

/** Hyperparameters of a fit. The service uses `MODEL_SETTINGS` alone; others are variants for comparison. */
export interface FitSettings {
  /** Input scores; the others count as 0. */
  inputs: readonly (typeof MODEL_INPUTS)[number][];
  /** Inverse variance of the slopes' prior, N(0, 1 / slopePrecision). Above 0. */
  slopePrecision: number;
  /** Pseudo-observations of each outcome in the base rate. */
  pseudoCount: number;
  /** Null: fitted to earlier blocks' out-of-sample output. */
  calibration: Calibration | null;
  trainingDays: number;
  halfLifeDays: number;
}

/** The model: slopes N(0, .25^2), base rate Beta(25, 25), calibrated, equal weights for all training days. */
export const MODEL_SETTINGS: FitSettings = {
  inputs: MODEL_INPUTS,
  slopePrecision: 16,
  pseudoCount: 25,
  calibration: null,
  trainingDays: Number.POSITIVE_INFINITY,
  halfLifeDays: Number.POSITIVE_INFINITY,
};
