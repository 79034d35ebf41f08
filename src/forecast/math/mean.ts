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
