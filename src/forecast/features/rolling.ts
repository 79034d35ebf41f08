/** Longest window of any feature, in rows. */
export const LOOKBACK_ROWS = 1460;

/** First row within reach of windows that end at `from` or later. */
export function getWindowStart(from: number): number {
  return Math.max(0, from - LOOKBACK_ROWS);
}

/** Natural logarithms aligned with `values`; rows before `getWindowStart(from)` stay 0. */
export function computeLogs(values: Float64Array, from: number): Float64Array {
  const logs = new Float64Array(values.length);
  for (let row = getWindowStart(from); row < values.length; row++) logs[row] = Math.log(values[row]);
  return logs;
}

/** ln(numerator / denominator), NaN where either is; rows before `getWindowStart(from)` stay 0. */
export function computeLogRatios(numerator: Float64Array, denominator: Float64Array, from: number): Float64Array {
  const logs = new Float64Array(numerator.length);
  for (let row = getWindowStart(from); row < logs.length; row++) logs[row] = Math.log(numerator[row] / denominator[row]);
  return logs;
}

/** Mean of the available values in the `window` rows up to `row`; NaN with fewer than `minCount`. */
export function meanAt(values: Float64Array, row: number, window: number, minCount: number): number {
  let sum = 0;
  let count = 0;
  for (let index = Math.max(0, row - window + 1); index <= row; index++) {
    if (Number.isNaN(values[index])) continue;
    sum += values[index];
    count++;
  }
  return count >= minCount ? sum / count : Number.NaN;
}

/** z-score (n - 1) of `values[row]` in the `window` rows up to `row`; NaN when masked, without variance or with fewer than `minCount`. */
export function zScoreAt(values: Float64Array, row: number, window: number, minCount: number): number {
  // Deviations from the value itself need one pass without cancellation, as it is within a few standard deviations of the mean.
  const value = values[row];
  let count = 0;
  let sum = 0;
  let squares = 0;
  for (let index = Math.max(0, row - window + 1); index <= row; index++) {
    const deviation = values[index] - value;
    if (Number.isNaN(deviation)) continue;
    sum += deviation;
    squares += deviation * deviation;
    count++;
  }
  const variance = (squares - (sum * sum) / count) / (count - 1);
  return count >= minCount && variance > 0 ? -sum / count / Math.sqrt(variance) : Number.NaN;
}

export function meanOfAvailable(...values: number[]): number {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    sum += value;
    count++;
  }
  return count > 0 ? sum / count : Number.NaN;
}

export function squash(z: number): number {
  return Math.tanh(z / 1.5);
}

/** Score of a category: the mean of its available parts, 0 without any. */
export function combineScores(...scores: number[]): number {
  const score = meanOfAvailable(...scores);
  return Number.isNaN(score) ? 0 : score;
}
