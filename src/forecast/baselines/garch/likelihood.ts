import { logit, sigmoid } from '../../fit/logistic.ts';
import { logGamma } from './student-t.ts';

/** Daily variance `omega + alpha e^2 + beta variance`, with e the return less `mu`; innovations are Student's t of variance 1. */
export interface GarchParameters {
  mu: number;
  omega: number;
  alpha: number;
  beta: number;
  /** Degrees of freedom, above 2. */
  degrees: number;
}

/** Below 1, so that the variance has a mean to return to. */
const MAX_PERSISTENCE = 0.9999;
/** The variance of t is infinite at 2. */
const MIN_DEGREES = 2.05;
const DIFFERENCE = 1e-4;

/** Unbounded variables of the optimiser: mu, ln omega, logit persistence, logit alpha's share of it, ln(degrees - 2.05). */
export function toParameters(at: ArrayLike<number>): GarchParameters {
  const persistence = MAX_PERSISTENCE * sigmoid(at[2]);
  const alpha = persistence * sigmoid(at[3]);
  return { mu: at[0], omega: Math.exp(at[1]), alpha, beta: persistence - alpha, degrees: MIN_DEGREES + Math.exp(at[4]) };
}

export function toVariables({ mu, omega, alpha, beta, degrees }: GarchParameters): number[] {
  const persistence = alpha + beta;
  return [mu, Math.log(omega), logit(persistence / MAX_PERSISTENCE), logit(alpha / persistence), Math.log(degrees - MIN_DEGREES)];
}

/** Mean negative log likelihood of returns, with its gradient by the variables; the first variance is `seed`. */
export function createLikelihood(returns: Float64Array, seed: number) {
  const slopes = new Float64Array(5);
  return (at: Float64Array, gradient: Float64Array): number => {
    const parameters = toParameters(at);
    const value = sumLikelihood(returns, seed, parameters, slopes);
    toVariableGradient(at, parameters, slopes, gradient);
    for (let index = 0; index < gradient.length; index++) gradient[index] /= returns.length;
    return value / returns.length;
  };
}

/** Negative log likelihood; writes its derivatives by mu, omega, alpha, beta and degrees into `slopes`. */
function sumLikelihood(returns: Float64Array, seed: number, parameters: GarchParameters, slopes: Float64Array): number {
  const { mu, omega, alpha, beta, degrees } = parameters;
  const half = (degrees + 1) / 2;
  let [variance, byMu, byOmega, byAlpha, byBeta] = [seed, 0, 0, 0, 0];
  let [sum, logs, degreeSlope] = [0, 0, 0];
  slopes.fill(0);
  for (let index = 0; index < returns.length; index++) {
    const error = returns[index] - mu;
    const squared = error * error;
    const spread = (degrees - 2) * variance;
    const ratio = squared / (spread + squared);
    sum += Math.log(variance);
    logs += Math.log1p(squared / spread);
    degreeSlope += ratio;
    const byVariance = (0.5 - half * ratio) / variance;
    slopes[0] += byVariance * byMu - (2 * half * error) / (spread + squared);
    slopes[1] += byVariance * byOmega;
    slopes[2] += byVariance * byAlpha;
    slopes[3] += byVariance * byBeta;
    byMu = beta * byMu - 2 * alpha * error;
    byOmega = 1 + beta * byOmega;
    byAlpha = squared + beta * byAlpha;
    byBeta = variance + beta * byBeta;
    variance = omega + alpha * squared + beta * variance;
  }
  const n = returns.length;
  const normSlope = (logNorm(degrees + DIFFERENCE) - logNorm(degrees - DIFFERENCE)) / (2 * DIFFERENCE);
  slopes[4] = 0.5 * logs - (half / (degrees - 2)) * degreeSlope - n * normSlope;
  return 0.5 * sum + half * logs - n * logNorm(degrees);
}

/** Logarithm of the constant of the density of a t of variance 1. */
function logNorm(degrees: number): number {
  return logGamma((degrees + 1) / 2) - logGamma(degrees / 2) - 0.5 * Math.log(Math.PI * (degrees - 2));
}

function toVariableGradient(at: ArrayLike<number>, parameters: GarchParameters, slopes: Float64Array, gradient: Float64Array): void {
  const { omega, alpha, beta, degrees } = parameters;
  const persistence = alpha + beta;
  const share = alpha / persistence;
  gradient[0] = slopes[0];
  gradient[1] = slopes[1] * omega;
  gradient[2] = (slopes[2] * share + slopes[3] * (1 - share)) * persistence * (1 - sigmoid(at[2]));
  gradient[3] = (slopes[2] - slopes[3]) * persistence * share * (1 - share);
  gradient[4] = slopes[4] * (degrees - MIN_DEGREES);
}
