import { mean, variance } from './mean.ts';
import { Z_95 } from './normal.ts';

/** A mean with its 95 % interval; the bounds are null for a single value, which has no spread. */
export interface MeanInterval {
  n: number;
  mean: number;
  low: number | null;
  high: number | null;
}

/** Mean of independent values with its 95 % interval by Student's t; null without values. */
export function computeMeanInterval(values: readonly number[]): MeanInterval | null {
  const n = values.length;
  if (n === 0) return null;
  const center = mean(values);
  if (n === 1) return { n, mean: center, low: null, high: null };
  const half = studentQuantile(n - 1) * Math.sqrt(variance(values, 1) / n);
  return { n, mean: center, low: center - half, high: center + half };
}

/** 97.5 % quantile of Student's t: exact for 1 and 2 degrees, else Cornish-Fisher (Abramowitz and Stegun 26.7.5), within 0.2 %. */
export function studentQuantile(degrees: number): number {
  if (degrees === 1) return Math.tan(Math.PI * 0.475);
  if (degrees === 2) return 0.95 * Math.sqrt(2 / (1 - 0.95 ** 2));
  const terms = [
    (Z_95 ** 3 + Z_95) / 4,
    (5 * Z_95 ** 5 + 16 * Z_95 ** 3 + 3 * Z_95) / 96,
    (3 * Z_95 ** 7 + 19 * Z_95 ** 5 + 17 * Z_95 ** 3 - 15 * Z_95) / 384,
    (79 * Z_95 ** 9 + 776 * Z_95 ** 7 + 1482 * Z_95 ** 5 - 1920 * Z_95 ** 3 - 945 * Z_95) / 92_160,
  ];
  return terms.reduce((sum, term, index) => sum + term / degrees ** (index + 1), Z_95);
}
