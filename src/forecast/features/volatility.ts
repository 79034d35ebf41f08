import type { FeatureTable } from './feature-table.ts';
import { RollingMedian } from './rolling-median.ts';

/** Row at which the variances start, as the mean of the first 30 squared returns. */
const SEED_ROW = 30;
const MEDIAN_DAYS = 365;
const MEDIAN_MIN_COUNT = 180;

/** `v94`, `v97`, `v99`, `vratio` and `vol`. */
export function fillVolatility(logClose: Float64Array, table: FeatureTable, from: number): void {
  fillVariance(logClose, table.v94, 0.94, from);
  fillVariance(logClose, table.v97, 0.97, from);
  fillVariance(logClose, table.v99, 0.99, from);
  fillRatio(table, from);
}

/** Exponentially weighted daily variance of every row; `NaN` before the 30 returns of its seed. */
export function computeVariance(closes: Float64Array, decay: number): Float64Array {
  const variance = new Float64Array(closes.length);
  fillVariance(closes.map(Math.log), variance, decay, 0);
  return variance;
}

function fillVariance(logClose: Float64Array, variance: Float64Array, decay: number, from: number): void {
  for (let row = from; row < variance.length; row++) {
    if (row > SEED_ROW) variance[row] = decay * variance[row - 1] + (1 - decay) * (logClose[row] - logClose[row - 1]) ** 2;
    else variance[row] = row === SEED_ROW ? seedVariance(logClose) : Number.NaN;
  }
}

function seedVariance(logClose: Float64Array): number {
  let sum = 0;
  for (let row = 1; row <= SEED_ROW; row++) sum += (logClose[row] - logClose[row - 1]) ** 2;
  return sum / SEED_ROW;
}

function fillRatio(table: FeatureTable, from: number): void {
  const median = new RollingMedian(MEDIAN_DAYS);
  for (let row = Math.max(0, from - MEDIAN_DAYS); row < table.length; row++) {
    const volatility = Math.sqrt(table.v97[row]);
    median.push(volatility);
    if (row < from) continue;
    const ratio = volatility / median.median(MEDIAN_MIN_COUNT);
    const score = Math.tanh(Math.log(ratio) / 0.5);
    table.vratio[row] = ratio;
    table.vol[row] = Number.isNaN(score) ? 0 : score;
  }
}
