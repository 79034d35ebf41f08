/** A mean with its 95 % interval; the bounds are null for a single value, which says nothing about its spread. */
export interface MeanInterval {
  n: number;
  mean: number;
  low: number | null;
  high: number | null;
}

const Z_95 = 1.959963984540054;

/** Mean of independent values with its 95 % interval by Student's t; null without values. */
export function computeMeanInterval(values: readonly number[]): MeanInterval | null {
  const n = values.length;
  if (n === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { n, mean, low: null, high: null };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const half = studentQuantile(n - 1) * Math.sqrt(variance / n);
  return { n, mean, low: mean - half, high: mean + half };
}

/**
 * The 97.5 % quantile of Student's t with one, two, or from three degrees of freedom on any number of them: exact for one and two,
 * else by the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5), within 0.2 %.
 */
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
