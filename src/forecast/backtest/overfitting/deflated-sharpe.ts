import { mean, variance } from '../../math/mean.ts';
import { normalCdf, normalQuantile } from '../../math/normal.ts';

const EULER_MASCHERONI = 0.5772156649015329;

export interface ReturnMoments {
  n: number;
  mean: number;
  /** Mean over standard deviation, per period, not annualised; null without variance. */
  sharpe: number | null;
  /** 0 for a symmetric distribution. */
  skewness: number | null;
  /** 3 for a normal one. */
  kurtosis: number | null;
}

/** Moments of returns; null where they need a spread and there is none. */
export function computeReturnMoments(returns: ArrayLike<number>): ReturnMoments {
  const n = returns.length;
  const center = n === 0 ? 0 : mean(returns);
  const spread = n === 0 ? 0 : computeCentralMoment(returns, center, 2);
  if (!(spread > 0)) return { n, mean: center, sharpe: null, skewness: null, kurtosis: null };
  const [third, fourth] = [3, 4].map((power) => computeCentralMoment(returns, center, power));
  const [skewness, kurtosis] = [third / spread ** 1.5, fourth / spread ** 2];
  return { n, mean: center, sharpe: center / Math.sqrt(spread), skewness, kurtosis };
}

function computeCentralMoment(values: ArrayLike<number>, center: number, power: number): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += (values[index] - center) ** power;
  return sum / values.length;
}

/** Standard deviation (n - 1) of several ratios; 0 for fewer than two. */
export function sampleStandardDeviation(values: readonly number[]): number {
  return values.length < 2 ? 0 : Math.sqrt(variance(values, 1));
}

/** Expected Sharpe ratio of the best of `trials` (at least 2) trials without skill, from the deviation of their ratios. */
export function computeExpectedBestSharpe(trials: number, trialDeviation: number): number {
  const best = (1 - EULER_MASCHERONI) * normalQuantile(1 - 1 / trials) + EULER_MASCHERONI * normalQuantile(1 - 1 / (trials * Math.E));
  return trialDeviation * best;
}

/**
 * Deflated Sharpe ratio: probability that the true ratio is above `benchmark`, given the length and shape of the record (Bailey and
 * Lopez de Prado, "The deflated Sharpe ratio", 2014). All ratios per period. Null where a moment is null.
 */
export function computeDeflatedSharpe({ n, sharpe, skewness, kurtosis }: ReturnMoments, benchmark: number): number | null {
  if (sharpe === null || skewness === null || kurtosis === null) return null;
  const variance = 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe ** 2;
  return variance > 0 ? normalCdf(((sharpe - benchmark) * Math.sqrt(n - 1)) / Math.sqrt(variance)) : null;
}
