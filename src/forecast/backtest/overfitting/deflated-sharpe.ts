import { normalCdf, normalQuantile } from '../../math/normal.ts';

const EULER_MASCHERONI = 0.5772156649015329;

/** Shape of a series of returns, a period each. */
export interface ReturnMoments {
  n: number;
  mean: number;
  /** Mean over standard deviation, per period, not annualised; null where nothing varies. */
  sharpe: number | null;
  /** 0 for a symmetric distribution. */
  skewness: number | null;
  /** 3 for a normal one. */
  kurtosis: number | null;
}

/** Moments of returns; those that need a spread are null without one. */
export function computeReturnMoments(returns: ArrayLike<number>): ReturnMoments {
  const n = returns.length;
  const values = Array.from(returns);
  const mean = n === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / n;
  const central = (power: number) => values.reduce((sum, value) => sum + (value - mean) ** power, 0) / n;
  const variance = n === 0 ? 0 : central(2);
  if (!(variance > 0)) return { n, mean, sharpe: null, skewness: null, kurtosis: null };
  return { n, mean, sharpe: mean / Math.sqrt(variance), skewness: central(3) / variance ** 1.5, kurtosis: central(4) / variance ** 2 };
}

/** Standard deviation (n - 1) of the ratios of several trials; 0 for fewer than two. */
export function sampleStandardDeviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

/**
 * Sharpe ratio that the best of so many trials without any skill is expected to show, from the spread of the trials' ratios.
 * @param trials at least 2
 */
export function computeExpectedBestSharpe(trials: number, trialDeviation: number): number {
  const best = (1 - EULER_MASCHERONI) * normalQuantile(1 - 1 / trials) + EULER_MASCHERONI * normalQuantile(1 - 1 / (trials * Math.E));
  return trialDeviation * best;
}

/**
 * Deflated Sharpe ratio: probability that the true ratio is above `benchmark`, given the length and shape of the record (Bailey and
 * Lopez de Prado, "The deflated Sharpe ratio", 2014). All ratios per period. Null where the moments are.
 */
export function computeDeflatedSharpe({ n, sharpe, skewness, kurtosis }: ReturnMoments, benchmark: number): number | null {
  if (sharpe === null || skewness === null || kurtosis === null) return null;
  const variance = 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2;
  return variance > 0 ? normalCdf(((sharpe - benchmark) * Math.sqrt(n - 1)) / Math.sqrt(variance)) : null;
}
