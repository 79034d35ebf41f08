import { MODEL_INPUTS } from '../model.ts';
import type { Calibration } from './calibration.ts';

/** What a fit leaves to choose. The service forecasts with `MODEL_SETTINGS` alone; others are variants to compare it with. */
export interface FitSettings {
  /** Scores that are learned from; the others count as 0. */
  inputs: readonly (typeof MODEL_INPUTS)[number][];
  /** Inverse variance of the slopes' prior, N(0, 1 / slopePrecision). Above 0. */
  slopePrecision: number;
  /** Pseudo-observations of each outcome in the base rate. */
  pseudoCount: number;
  /** Null: fitted to earlier blocks' out-of-sample output. */
  calibration: Calibration | null;
  /** Days at the end of training that coefficients and base rate are learned from. */
  trainingDays: number;
  /** A day this long before the end of training weighs half as much as the last one. */
  halfLifeDays: number;
}

/** The model: slopes N(0, .25^2), base rate Beta(25, 25), calibrated, all days since the start of training alike. */
export const MODEL_SETTINGS: FitSettings = {
  inputs: MODEL_INPUTS,
  slopePrecision: 16,
  pseudoCount: 25,
  calibration: null,
  trainingDays: Number.POSITIVE_INFINITY,
  halfLifeDays: Number.POSITIVE_INFINITY,
};
