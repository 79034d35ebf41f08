import { getOrInsert } from '../get-or-insert.ts';
import { mean } from '../math/mean.ts';
import { MODEL_INPUTS } from '../model.ts';
import { fitLogistic, type LogisticProblem } from './logistic.ts';
import { type FitSettings, MODEL_SETTINGS } from './settings.ts';
import { type Coefficients, getTrainingStart, type TrainingData } from './training-data.ts';

/** Training rows `from` (inclusive) to `to` (exclusive). */
type TrainingRows = Pick<LogisticProblem, 'labels' | 'weights' | 'from' | 'to'>;

/** Ridge logistic regression, means and base rate over the rows from the first training row to `to` (exclusive). */
export function fitCoefficients(data: TrainingData, to: number): Coefficients {
  const { calibration: _, ...settings } = data.settings;
  return getOrInsert(data.coefficients, JSON.stringify([settings, to]), () => computeCoefficients(data, to));
}

function computeCoefficients(data: TrainingData, to: number): Coefficients {
  const { design, labels, settings } = data;
  const rows = { labels, weights: decayWeights(data, to), from: getTrainingStart(data, to), to };
  // The intercept has no prior.
  const precision = design.map((_, index) => (index === 0 ? 0 : settings.slopePrecision));
  const [intercept, ...slopes] = fitLogistic({ design, ...rows, precision, priorMean: design.map(() => 0) });
  return {
    beta: [intercept, ...toModelOrder(slopes, settings)],
    meanX: toModelOrder(
      design.slice(1).map((column) => mean(column.subarray(rows.from, to))),
      settings,
    ),
    baseRate: computeBaseRate(rows, settings.pseudoCount),
  };
}

function toModelOrder(numbers: readonly number[], { inputs }: FitSettings): number[] {
  return MODEL_INPUTS.map((name) => numbers[inputs.indexOf(name)] ?? 0);
}

/** Weights with exponential decay from the end of training. */
function decayWeights({ weights, settings: { halfLifeDays } }: TrainingData, to: number): Float64Array {
  return halfLifeDays === Number.POSITIVE_INFINITY ? weights : weights.map((weight, row) => weight * 2 ** ((row + 1 - to) / halfLifeDays));
}

/** Weighted share of rises, shrunk towards one half by pseudo-observations of each outcome. */
export function computeBaseRate({ labels, weights, from, to }: TrainingRows, pseudoCount = MODEL_SETTINGS.pseudoCount): number {
  let rises = pseudoCount;
  let total = 2 * pseudoCount;
  for (let row = from; row < to; row++) {
    rises += weights[row] * labels[row];
    total += weights[row];
  }
  return rises / total;
}
