import { fitLogistic } from './logistic.ts';
import { DESIGN_WIDTH, type TrainingData } from './training-data.ts';

/** Inverse variance of the slopes' prior, N(0, .25^2); the intercept is free. */
const PRECISION = [0, 16, 16, 16, 16, 16];
const PRIOR_MEAN = [0, 0, 0, 0, 0, 0];

/** Pseudo-observations of each outcome in the base rate: Beta(25, 25). */
const PSEUDO_COUNT = 25;

export interface Coefficients {
  beta: number[];
  meanX: number[];
  baseRate: number;
}

/** Ridge logistic regression, means and base rate over the rows from the first training row to `to` (exclusive). */
export function fitCoefficients(data: TrainingData, to: number): Coefficients {
  const { design, labels, weights, firstRow } = data;
  return {
    beta: fitLogistic({ design, width: DESIGN_WIDTH, labels, weights, from: firstRow, to, precision: PRECISION, priorMean: PRIOR_MEAN }),
    meanX: meansOf(data, to),
    baseRate: baseRateOf({ labels, weights, from: firstRow, to }),
  };
}

/** Weighted share of rises, shrunk to one half by Beta(25, 25). */
export function baseRateOf(rows: { labels: Float64Array; weights: Float64Array; from: number; to: number }): number {
  let rises = PSEUDO_COUNT;
  let total = 2 * PSEUDO_COUNT;
  for (let row = rows.from; row < rows.to; row++) {
    rises += rows.weights[row] * rows.labels[row];
    total += rows.weights[row];
  }
  return rises / total;
}

function meansOf({ design, firstRow }: TrainingData, to: number): number[] {
  const sums = new Array<number>(DESIGN_WIDTH - 1).fill(0);
  for (let row = firstRow; row < to; row++) {
    for (let index = 0; index < sums.length; index++) sums[index] += design[row * DESIGN_WIDTH + index + 1];
  }
  return sums.map((sum) => sum / (to - firstRow));
}
