import { OracleError } from '../errors.ts';
import { type Day, formatDay } from './day.ts';
import { computeScale, computeSortedQuantiles } from './distribution.ts';
import { type FeatureTable, getOrInsert, MIN_HISTORY_DAYS } from './inputs.ts';
import { mean, SortedColumn } from './math.ts';
import {
  BLOCK_DAYS,
  FIRST_BLOCK,
  formatModelVersion,
  getBlockIndex,
  getBlockStart,
  getTrainingEnd,
  type HorizonDays,
  type HorizonModel,
  LEARNING_RULES,
  type LearningRules,
  MIN_TRAINING_DAYS,
  MODEL_INPUTS,
  RESIDUAL_DAYS,
  TRAINING_START,
} from './model.ts';
import { fitModelVersion, type ModelVersion, m0d1 } from './models.ts';

/** A block's fit and its out-of-sample forecasts of the block. */
export interface BlockFit {
  model: HorizonModel;
  /** Rows of the feature table in the block: from (inclusive) and to (exclusive). */
  from: number;
  to: number;
  /** P(close is higher `horizonDays` later) of those rows. */
  pUp: Float64Array;
}

/**
 * Fits every block from the first with enough training days (at the earliest `FIRST_BLOCK`) to `lastBlock`, by default that of the
 * last row; each is calibrated on the out-of-sample output of those before it.
 * @throws OracleError HISTORY_TOO_SHORT when `lastBlock` has fewer than `MIN_TRAINING_DAYS` training days or the closes end before
 * its last training label; INPUT_INVALID when closes and features differ in length or prices never move.
 */
export function walkForward(source: TrainingSource & { lastBlock?: number }): BlockFit[] {
  const data = buildTrainingData(source);
  const lastBlock = source.lastBlock ?? getBlockIndex(data.features.firstDay + data.features.length - 1);
  requireTrainingHistory(data, lastBlock);
  let block = FIRST_BLOCK;
  while (countTrainingDays(data, block) < MIN_TRAINING_DAYS) block++;
  const output = createOutOfSampleBuffer(data, block);
  const fits: BlockFit[] = [];
  for (; block <= lastBlock; block++) fits.push(fitBlock(data, block, output));
  return fits;
}

/** The model of one block; reads nothing after its training days. @throws OracleError as `walkForward` */
export function fitModel({ block, ...source }: TrainingSource & { block: number }): HorizonModel {
  return walkForward({ ...source, lastBlock: block }).at(-1)!.model;
}

/** Out-of-sample output of earlier blocks by row: log odds of the base rate at the time, and the deviation. */
type OutOfSampleBuffer = ReturnType<typeof createOutOfSampleBuffer>;

function createOutOfSampleBuffer({ features: { firstDay, length } }: TrainingData, firstBlock: number) {
  const from = getBlockStart(firstBlock) - firstDay;
  return { from, offset: new Float64Array(length), deviations: new Float64Array(length) };
}

function fitBlock(data: TrainingData, block: number, output: OutOfSampleBuffer): BlockFit {
  const { features, version, horizonDays, rules, labels, weights, firstRow, residuals, residualQuantiles, settings } = data;
  const end = getTrainingEnd(block, horizonDays, rules) - features.firstDay;
  const start = getTrainingStart(data, end);
  const direction: HorizonModel = {
    modelVersion: formatModelVersion(block),
    block,
    horizonDays,
    trainFrom: features.firstDay + start,
    trainTo: features.firstDay + end - 1,
    nTrain: end - start,
    ...fitCoefficients(data, end),
    ...(settings.calibration ?? fitCalibration({ ...output, labels, weights, to: end })),
    residualQuantiles: getOrInsert(residualQuantiles, end, () =>
      computeSortedQuantiles(residuals.valuesBetween(Math.max(firstRow, end - RESIDUAL_DAYS), end)),
    ),
  };
  const model = fitModelVersion(version, direction, data);
  return { model, ...forecastBlock(data, model, output) };
}

/** Forecasts the rows of the model's block and writes them to `output`. */
function forecastBlock({ features }: TrainingData, model: HorizonModel, output: OutOfSampleBuffer) {
  const from = Math.min(getBlockStart(model.block) - features.firstDay, features.length);
  const to = Math.min(from + BLOCK_DAYS, features.length);
  const pUp = new Float64Array(to - from);
  for (let row = from; row < to; row++) {
    const deviation = computeDeviation(model, features, row);
    output.offset[row] = logit(model.baseRate);
    output.deviations[row] = deviation;
    pUp[row - from] = sigmoid(computeCalibratedLogit(model, deviation));
  }
  return { from, to, pUp };
}

/** Training days of a block; can be negative. */
function countTrainingDays({ features, firstRow, horizonDays, rules }: TrainingData, block: number): number {
  return getTrainingEnd(block, horizonDays, rules) - features.firstDay - firstRow;
}

function requireTrainingHistory(data: TrainingData, block: number): void {
  const { features, firstRow, horizonDays, rules } = data;
  const first = formatDay(features.firstDay);
  const days = Math.max(0, countTrainingDays(data, block));
  if (days < MIN_TRAINING_DAYS) {
    const given = `a history from ${first} gives ${days}, from ${formatDay(features.firstDay + firstRow)} on`;
    throw historyTooShort(block, `needs ${MIN_TRAINING_DAYS} training days; ${given}`, 'Load prices from an earlier date.');
  }
  const known = features.firstDay + features.length - 1;
  const needed = getTrainingEnd(block, horizonDays, rules) + horizonDays - 1;
  if (known >= needed) return;
  const problem = `trains on closes until ${formatDay(needed)}; the history ends on ${formatDay(known)}`;
  throw historyTooShort(block, problem, 'Load prices until a later date.');
}

function historyTooShort(block: number, problem: string, suggestedAction: string): OracleError {
  return new OracleError('HISTORY_TOO_SHORT', `${formatModelVersion(block)} ${problem}`, { field: 'close', suggestedAction });
}

/** Inverse variances of the priors: shift N(0, .1^2), slope N(.5, .25^2). */
const PRECISION = [100, 16];
const PRIOR_MEAN = [0, 0.5];
/** The prior, used before there is out-of-sample output. */
const DEFAULT_CALIBRATION: Calibration = { calA: 0, calB: 0.5 };

export interface Calibration {
  calA: number;
  /** Clipped to [0, 1]: calibration never flips or amplifies the model's deviation. */
  calB: number;
}

/**
 * Fits logit p = offset + a + b * deviation to out-of-sample output with outcomes; the prior without rows. `offset` is the log odds of the
 * base rate known at the time, `deviations` are in log odds from the training mean.
 */
export function fitCalibration({
  deviations,
  ...rows
}: Omit<LogisticProblem, 'design' | 'precision' | 'priorMean'> & { deviations: Float64Array }): Calibration {
  if (rows.to <= rows.from) return DEFAULT_CALIBRATION;
  const design = [new Float64Array(deviations.length).fill(1), deviations];
  const [calA, slope] = fitLogistic({ ...rows, design, precision: PRECISION, priorMean: PRIOR_MEAN });
  return { calA, calB: Math.min(1, Math.max(0, slope)) };
}

export function computeCalibratedLogit(model: Pick<HorizonModel, 'baseRate' | 'calA' | 'calB'>, deviation: number): number {
  return logit(model.baseRate) + model.calA + model.calB * deviation;
}

/** Uncalibrated log odds of a row relative to the mean training day. */
export function computeDeviation(model: Pick<HorizonModel, 'beta' | 'meanX'>, features: FeatureTable, row: number): number {
  let deviation = 0;
  for (let index = 0; index < MODEL_INPUTS.length; index++) {
    deviation += model.beta[index + 1] * (features[MODEL_INPUTS[index]][row] - model.meanX[index]);
  }
  return deviation;
}

interface LogisticProblem {
  /** A column an input, aligned with `labels`. */
  design: readonly Float64Array[];
  /** 1 or 0 a row. */
  labels: Float64Array;
  weights: Float64Array;
  /** Fixed part of the log odds of each row; none means 0. */
  offset?: Float64Array;
  /** Rows from (inclusive) and to (exclusive). */
  from: number;
  to: number;
  /** Inverse variance of each coefficient's prior; 0 leaves it free. */
  precision: readonly number[];
  priorMean: readonly number[];
}

const TOLERANCE = 1e-10;
const MAX_STEPS = 100;

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

export function logit(p: number): number {
  return Math.log(p / (1 - p));
}

/** Coefficients of highest posterior density, by Newton's method (IRLS) from zero until no step exceeds 1e-10. */
export function fitLogistic(problem: LogisticProblem): number[] {
  const newton = new NewtonSteps(problem);
  const beta = new Array<number>(problem.design.length).fill(0);
  for (let iteration = 0; iteration < MAX_STEPS; iteration++) {
    const step = newton.computeStep(beta);
    // A free intercept diverges when all labels agree, until no curvature is left; the slopes have converged by then.
    if (step === undefined) return beta;
    for (let i = 0; i < beta.length; i++) beta[i] += step[i];
    if (step.every((change) => Math.abs(change) < TOLERANCE)) return beta;
  }
  return beta;
}

/** Newton steps of one fit; all steps work in the same arrays. */
class NewtonSteps {
  readonly #problem: LogisticProblem;
  readonly #columns: Float64Array[];
  readonly #labels: Float64Array;
  readonly #weights: Float64Array;
  readonly #odds: Float64Array;
  readonly #curvatures: Float64Array;
  readonly #factors: Float64Array;
  readonly #gradient: Float64Array;
  /** Negative Hessian of the log posterior, row-major, lower triangle filled. */
  readonly #hessian: Float64Array;

  constructor(problem: LogisticProblem) {
    const { design, labels, weights, from, to } = problem;
    this.#problem = problem;
    this.#columns = design.map((column) => column.subarray(from, to));
    this.#labels = labels.subarray(from, to);
    this.#weights = weights.subarray(from, to);
    this.#odds = new Float64Array(to - from);
    this.#curvatures = new Float64Array(to - from);
    this.#factors = new Float64Array(to - from);
    this.#gradient = new Float64Array(design.length);
    this.#hessian = new Float64Array(design.length ** 2);
  }

  /** The step from `beta`; undefined without curvature. */
  computeStep(beta: readonly number[]): Float64Array | undefined {
    const { precision, priorMean } = this.#problem;
    this.#computeOdds(beta);
    this.#computeResiduals();
    sumProducts(this.#factors, this.#columns, this.#gradient);
    this.#computeHessian();
    for (let i = 0; i < beta.length; i++) {
      this.#gradient[i] -= precision[i] * (beta[i] - priorMean[i]);
      this.#hessian[i * beta.length + i] += precision[i];
    }
    return solvePositiveDefinite(this.#hessian, this.#gradient);
  }

  #computeOdds(beta: readonly number[]): void {
    const { offset, from, to } = this.#problem;
    const odds = this.#odds;
    if (offset === undefined) odds.fill(0);
    else odds.set(offset.subarray(from, to));
    for (let i = 0; i < beta.length; i++) {
      const slope = beta[i];
      const column = this.#columns[i];
      for (let row = 0; row < odds.length; row++) odds[row] += slope * column[row];
    }
  }

  /** Weighted residuals into the factors, and the curvatures. */
  #computeResiduals(): void {
    const [odds, labels, weights, factors, curvatures] = [this.#odds, this.#labels, this.#weights, this.#factors, this.#curvatures];
    for (let row = 0; row < odds.length; row++) {
      const p = sigmoid(odds[row]);
      const weight = weights[row];
      factors[row] = weight * (labels[row] - p);
      curvatures[row] = weight * p * (1 - p);
    }
  }

  #computeHessian(): void {
    const width = this.#columns.length;
    const [factors, curvatures] = [this.#factors, this.#curvatures];
    for (let i = 0; i < width; i++) {
      const column = this.#columns[i];
      for (let row = 0; row < factors.length; row++) factors[row] = curvatures[row] * column[row];
      sumProducts(factors, this.#columns, this.#hessian.subarray(i * width, i * width + i + 1));
    }
  }
}

/** Sums of the factors times each of the first `sums.length` columns, three columns a pass. */
function sumProducts(factors: Float64Array, columns: readonly Float64Array[], sums: Float64Array): void {
  const last = sums.length - 1;
  for (let first = 0; first <= last; first += 3) {
    const [a, b, c] = [columns[first], columns[Math.min(first + 1, last)], columns[Math.min(first + 2, last)]];
    let [sumA, sumB, sumC] = [0, 0, 0];
    for (let row = 0; row < factors.length; row++) {
      const factor = factors[row];
      sumA += factor * a[row];
      sumB += factor * b[row];
      sumC += factor * c[row];
    }
    sums[first] = sumA;
    if (first + 1 <= last) sums[first + 1] = sumB;
    if (first + 2 <= last) sums[first + 2] = sumC;
  }
}

/** Solves `matrix` x = `vector` by Cholesky, in place; undefined when the matrix is not positive definite. */
function solvePositiveDefinite(matrix: Float64Array, vector: Float64Array): Float64Array | undefined {
  const n = vector.length;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j];
      for (let k = 0; k < j; k++) sum -= matrix[i * n + k] * matrix[j * n + k];
      if (j < i) matrix[i * n + j] = sum / matrix[j * n + j];
      else if (sum > 0) matrix[i * n + i] = Math.sqrt(sum);
      else return undefined;
    }
    for (let k = 0; k < i; k++) vector[i] -= matrix[i * n + k] * vector[k];
    vector[i] /= matrix[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) vector[i] -= matrix[k * n + i] * vector[k];
    vector[i] /= matrix[i * n + i];
  }
  return vector;
}

/** Training rows `from` (inclusive) to `to` (exclusive). */
type TrainingRows = Pick<LogisticProblem, 'labels' | 'weights' | 'from' | 'to'>;

/** Ridge logistic regression, means and base rate over the rows from the first training row to `to` (exclusive). */
function fitCoefficients(data: TrainingData, to: number): Coefficients {
  const { calibration: _, ...settings } = data.settings;
  return getOrInsert(data.coefficients, JSON.stringify([settings, to]), () => computeCoefficients(data, to));
}

function computeCoefficients(data: TrainingData, to: number): Coefficients {
  const { design, labels, settings } = data;
  const { halfLifeDays } = settings;
  const isDecaying = halfLifeDays !== Number.POSITIVE_INFINITY;
  const weights = isDecaying ? data.weights.map((weight, row) => weight * 2 ** ((row + 1 - to) / halfLifeDays)) : data.weights;
  const rows = { labels, weights, from: getTrainingStart(data, to), to };
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

/** Hyperparameters of a fit. The service uses `MODEL_SETTINGS` alone; others are variants for comparison. */
export interface FitSettings {
  /** Input scores; the others count as 0. */
  inputs: readonly (typeof MODEL_INPUTS)[number][];
  /** Inverse variance of the slopes' prior, N(0, 1 / slopePrecision). Above 0. */
  slopePrecision: number;
  /** Pseudo-observations of each outcome in the base rate. */
  pseudoCount: number;
  /** Null: fitted to earlier blocks' out-of-sample output. */
  calibration: Calibration | null;
  trainingDays: number;
  /** Of the weights' exponential decay from the end of training. */
  halfLifeDays: number;
}

/** The model: slopes N(0, .25^2), base rate Beta(25, 25), calibrated, equal weights for all training days. */
export const MODEL_SETTINGS: FitSettings = {
  inputs: MODEL_INPUTS,
  slopePrecision: 16,
  pseudoCount: 25,
  calibration: null,
  trainingDays: Number.POSITIVE_INFINITY,
  halfLifeDays: Number.POSITIVE_INFINITY,
};

export type TrainingBasis = ReturnType<typeof buildTrainingBasis>;

type Coefficients = Pick<HorizonModel, 'beta' | 'meanX' | 'baseRate'>;

/** Data shared by the fits of all blocks of one horizon. */
interface TrainingData extends TrainingBasis {
  version: ModelVersion;
  rules: LearningRules;
  /** Columns of the intercept and the scores of `settings.inputs`. */
  design: readonly Float64Array[];
  settings: FitSettings;
}

export interface TrainingSource {
  closes: Float64Array;
  features: FeatureTable;
  horizon: HorizonDays;
  /** Default `m0-d1`. */
  version?: ModelVersion;
  settings?: FitSettings;
  rules?: LearningRules;
  /** Of the same history and horizon, for fits of several settings. */
  basis?: TrainingBasis;
}

/** @throws OracleError INPUT_INVALID when closes and features differ in length */
function buildTrainingData(source: TrainingSource): TrainingData {
  const { features, version = m0d1, settings = MODEL_SETTINGS, rules = LEARNING_RULES, basis = buildTrainingBasis(source) } = source;
  const design = [new Float64Array(features.length).fill(1), ...settings.inputs.map((name) => features[name])];
  return { ...basis, version, rules, design, settings };
}

/**
 * What fits of any settings to one history and horizon have in common; rows are those of the feature table.
 * @throws OracleError INPUT_INVALID when closes and features differ in length
 */
export function buildTrainingBasis({ closes, features, horizon }: TrainingSource) {
  if (closes.length !== features.length) {
    throw new OracleError('INPUT_INVALID', `${closes.length} closes do not fit ${features.length} rows of features`, { field: 'closes' });
  }
  return {
    closes,
    features,
    horizonDays: horizon,
    /** On 2012-01-01, or where features are complete. */
    firstRow: Math.max(TRAINING_START - features.firstDay, MIN_HISTORY_DAYS - 1),
    /** 1 where the close `horizonDays` later is strictly higher, else 0, also where it is unknown. */
    labels: buildLabels(closes, horizon),
    /** 1 / horizon, since labels of overlapping windows are correlated. */
    weights: new Float64Array(closes.length).fill(1 / horizon),
    /** h-day log return over its scale where known. */
    residuals: new SortedColumn(computeResiduals(closes, features, horizon)),
    /** By the last training row (exclusive). */
    residualQuantiles: new Map<number, HorizonModel['residualQuantiles']>(),
    /** By the settings that they depend on and the last training row (exclusive). */
    coefficients: new Map<string, Coefficients>(),
  };
}

function getTrainingStart({ firstRow, settings }: TrainingData, to: number): number {
  return Math.max(firstRow, to - settings.trainingDays);
}

function buildLabels(closes: Float64Array, horizon: number): Float64Array {
  const labels = new Float64Array(closes.length);
  for (let row = 0; row + horizon < closes.length; row++) labels[row] = closes[row + horizon] > closes[row] ? 1 : 0;
  return labels;
}

/** NaN where unknown. */
function computeResiduals(closes: Float64Array, { v94, v99 }: FeatureTable, horizon: number): Float64Array {
  const residuals = new Float64Array(closes.length).fill(Number.NaN);
  for (let row = 0; row + horizon < closes.length; row++) {
    residuals[row] = Math.log(closes[row + horizon] / closes[row]) / computeScale(v94[row], v99[row], horizon);
  }
  return residuals;
}

/** One close per day. */
export interface DailyCloses {
  firstDay: Day;
  /** USD; NaN for a missing close. */
  closes: Float64Array;
}

/** Base rates of UP on a day; null where the closes do not cover their training days. */
export type BaseRates = (day: Day, horizonDays: number) => { climatology: number | null; climatology4y: number | null };

/** Computes base rates from closes: the shrunk share of rises among all training days of the day's block, and among its last four years. */
export function createBaseRates(history: DailyCloses | null): BaseRates {
  const known = new Map<string, ReturnType<BaseRates>>();
  return (day, horizonDays) => {
    if (history === null) return { climatology: null, climatology4y: null };
    const block = getBlockIndex(day);
    return getOrInsert(known, `${block}:${horizonDays}`, () => {
      const compute = (days: number) => computeBaseRateFromCloses(history, { block, horizonDays: horizonDays as HorizonDays, days });
      return { climatology: compute(Number.POSITIVE_INFINITY), climatology4y: compute(RESIDUAL_DAYS) };
    });
  };
}

/** Of the last `days` training days. */
function computeBaseRateFromCloses(
  { firstDay, closes }: DailyCloses,
  { block, horizonDays, days }: { block: number; horizonDays: HorizonDays; days: number },
): number | null {
  const to = getTrainingEnd(block, horizonDays) - firstDay;
  const from = Math.max(TRAINING_START - firstDay, MIN_HISTORY_DAYS - 1, to - days);
  const read = closes.subarray(from, to + horizonDays);
  if (to <= from || read.length < to + horizonDays - from || read.some(Number.isNaN)) return null;
  const labels = Float64Array.from({ length: to }, (_, row) => (row >= from && closes[row + horizonDays] > closes[row] ? 1 : 0));
  return computeBaseRate({ labels, weights: new Float64Array(to).fill(1 / horizonDays), from, to });
}
