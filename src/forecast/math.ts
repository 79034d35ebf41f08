export function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let index = 0; index < values.length; index++) total += values[index];
  return total;
}

export function mean(values: ArrayLike<number>): number {
  return sum(values) / values.length;
}

export function meanBy<T>(members: readonly T[], numberOf: (member: T) => number): number {
  return mean(members.map(numberOf));
}

export function shareOf<T>(members: readonly T[], predicate: (member: T) => boolean): number {
  return members.filter(predicate).length / members.length;
}

/** Variance with the divisor n - 1 of a sample (`ddof` 1) or n of a population (0). */
export function variance(values: ArrayLike<number>, ddof: 0 | 1): number {
  const center = mean(values);
  let squares = 0;
  for (let index = 0; index < values.length; index++) squares += (values[index] - center) ** 2;
  return squares / (values.length - ddof);
}

/** Pearson correlation of paired values; null where one side is constant. */
export function computeCorrelation(points: readonly (readonly [number, number])[]): number | null {
  const [meanX, meanY] = [0, 1].map((side) => meanBy(points, (point) => point[side]));
  const products = (of: (x: number, y: number) => number) => points.reduce((sum, [x, y]) => sum + of(x - meanX, y - meanY), 0);
  const spread = Math.sqrt(products((x) => x * x) * products((_, y) => y * y));
  return spread === 0 ? null : products((x, y) => x * y) / spread;
}

/** Quantile of an ascending sample by linear interpolation (Hyndman and Fan's type 7). */
export function interpolateQuantile(sorted: ArrayLike<number>, level: number): number {
  const position = level * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  // Infinity - Infinity is NaN.
  if (sorted[below] === sorted[above]) return sorted[below];
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

export const Z_95 = 1.959963984540054;

/** Standard normal distribution function: Zelen and Severo's approximation (Abramowitz and Stegun 26.2.17), error below 7.5e-8. */
export function normalCdf(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * poly;
  return z > 0 ? 1 - tail : tail;
}

const CENTRE = {
  above: [2.506628277459239, -30.66479806614716, 138.357751867269, -275.9285104469687, 220.9460984245205, -39.69683028665376],
  below: [1, -13.28068155288572, 66.80131188771972, -155.6989798598866, 161.5858368580409, -54.47609879822406],
};

const TAIL = {
  above: [2.938163982698783, 4.374664141464968, -2.549732539343734, -2.400758277161838, -0.3223964580411365, -0.007784894002430293],
  below: [1, 3.754408661907416, 2.445134137142996, 0.3224671290700398, 0.007784695709041462],
};

const TAIL_FROM = 0.02425;

/** Standard normal quantile of `p`, 0 < p < 1: Acklam's rational approximation, relative error below 1.2e-9. */
export function normalQuantile(p: number): number {
  if (p > 1 - TAIL_FROM) return -normalQuantile(1 - p);
  if (p < TAIL_FROM) {
    const x = Math.sqrt(-2 * Math.log(p));
    return polynomial(TAIL.above, x) / polynomial(TAIL.below, x);
  }
  const x = p - 0.5;
  return (x * polynomial(CENTRE.above, x * x)) / polynomial(CENTRE.below, x * x);
}

/** Coefficients from the constant term up. */
function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}

/** `53.4 %` of a share from 0 to 1. */
export function formatPercent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}

/** A column sorted once, from which the sorted values of any range of rows are read. */
export class SortedColumn {
  /** Finite values in ascending order, and their rows. */
  readonly #values: Float64Array;
  readonly #rows: Uint32Array;

  constructor(column: Float64Array) {
    this.#values = column.filter(Number.isFinite).sort();
    this.#rows = new Uint32Array(this.#values.length);
    const used = new Uint32Array(this.#values.length);
    for (let row = 0; row < column.length; row++) {
      if (!Number.isFinite(column[row])) continue;
      const first = lowerBound(this.#values, column[row]);
      this.#rows[first + used[first]++] = row;
    }
  }

  /** Finite values of the rows `from` (inclusive) to `to` (exclusive), ascending. */
  valuesBetween(from: number, to: number): Float64Array {
    const found = new Float64Array(this.#values.length);
    let count = 0;
    for (let index = 0; index < found.length; index++) {
      const row = this.#rows[index];
      if (row >= from && row < to) found[count++] = this.#values[index];
    }
    return found.subarray(0, count);
  }
}

/** Index of the first of `count` ascending values that is not less. */
export function lowerBound(sorted: Float64Array, value: number, count = sorted.length): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
