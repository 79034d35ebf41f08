import { OracleError, orElse } from '../errors.ts';
import type { Day } from './day.ts';
import { computeResidualQuantiles, QUANTILE_LEVELS } from './distribution.ts';
import { computeVariance } from './features.ts';
import { type DailyCloses, logit, sigmoid } from './fit.ts';
import { type FeatureTable, getOrInsert } from './inputs.ts';
import { normalQuantile, variance as sampleVariance } from './math.ts';
import { getBlockIndex, getTrainingEnd, type HorizonDays, RESIDUAL_DAYS, TRAINING_START } from './model.ts';

/** Closes and features of the same days. */
interface BaselineHistory {
  closes: Float64Array;
  features: Pick<FeatureTable, 'firstDay' | 'v94'>;
}

/** The 199 quantiles of a row's h-day log return; reads nothing after the row. */
type BaselineForecast = (row: number) => Float64Array;

interface Baseline<Name extends string = string> {
  name: Name;
  title: string;
  /** What it assumes, in a sentence. */
  method: string;
  /**
   * Fits the block's parameters, with the purge and embargo of the model, for forecasts from any history that has the same training days.
   * @throws OracleError INPUT_INVALID without usable returns
   */
  fitBlock(history: BaselineHistory, block: number, horizonDays: HorizonDays): (history: BaselineHistory) => BaselineForecast;
  /** Forecasts of the history that the parameters are fitted to. */
  fit(history: BaselineHistory, block: number, horizonDays: HorizonDays): BaselineForecast;
}

function defineBaseline<Name extends string>(baseline: Omit<Baseline<Name>, 'fit'>): Baseline<Name> {
  return { ...baseline, fit: (history, block, horizonDays) => baseline.fitBlock(history, block, horizonDays)(history) };
}

/** First row that the parameters of a block may not read. */
function getTrainingEndRow({ features }: BaselineHistory, block: number, horizonDays: HorizonDays): number {
  return getTrainingEnd(block, horizonDays) - features.firstDay;
}

function requireRow({ closes }: Pick<BaselineHistory, 'closes'>, row: number): void {
  if (row >= 0 && row < closes.length) return;
  throw new OracleError('INPUT_INVALID', `row ${row} is outside a history of ${closes.length} days`, { field: 'row' });
}

/** The h-day log returns of the last four years of training: what the recent past alone says. */
export const CLIMATOLOGY = defineBaseline({
  name: 'climatology' as const,
  title: 'Climatology, recent four years',
  method: `quantiles of the ${RESIDUAL_DAYS.toLocaleString('en-US')} last h-day returns before purge and embargo`,
  fitBlock: fitClimatology,
});

function fitClimatology(history: BaselineHistory, block: number, horizonDays: HorizonDays): () => BaselineForecast {
  const { closes } = history;
  const to = Math.min(getTrainingEndRow(history, block, horizonDays), closes.length - horizonDays);
  const from = Math.max(0, to - RESIDUAL_DAYS);
  const returns = new Float64Array(Math.max(0, to - from));
  for (let index = 0; index < returns.length; index++) returns[index] = Math.log(closes[from + index + horizonDays] / closes[from + index]);
  const grid = Float64Array.from(computeResidualQuantiles(returns));
  return () => () => grid.slice();
}

const NORMAL_GRID = QUANTILE_LEVELS.map(normalQuantile);

/** A random walk without drift whose daily variance is exponentially weighted (RiskMetrics, 1996). */
export const EWMA = defineBaseline({
  name: 'ewma' as const,
  title: 'Random walk, EWMA(.94) variance',
  method: 'normal, mean 0, variance h times the exponentially weighted daily variance of decay .94; nothing is fitted',
  fitBlock: (_history, _block, horizonDays) => (history) => (row) => {
    requireRow(history, row);
    const scale = Math.sqrt(horizonDays * history.features.v94[row]);
    return NORMAL_GRID.map((z) => scale * z);
  },
});

/**
 * Bollerslev's model (1987). The h-day return is taken as Student's t with the degrees of freedom of a day, although sums of several
 * days have thinner tails, with mean h mu and the sum of the h variances expected.
 */
export const GARCH = defineBaseline({
  name: 'garch' as const,
  title: 'GARCH(1,1), Student t',
  method: 'maximum likelihood from 2012 to purge and embargo; t with the degrees of freedom of a day and the sum of the expected variances',
  fitBlock(trained, block, horizonDays) {
    const fit = fitGarch(trained, block, horizonDays);
    const { degrees } = fit.parameters;
    const unit = Math.sqrt((degrees - 2) / degrees);
    // Of Student's t of variance 1: its quantiles cost more than a forecast from them.
    const grid = QUANTILE_LEVELS.map((level) => unit * studentTQuantile(level, degrees));
    return (history) => forecastGarch(history, { ...fit, grid }, horizonDays);
  },
});

/** In percent, which keeps the variables of the optimiser near 1. */
const PERCENT = 100;
const TOLERANCE = 1e-10;
/** Below a year the parameters are noise. */
const MIN_RETURNS = 365;
const START = { mu: 0.1, persistence: 0.97, alphaShare: 0.12, degrees: 4 };

type GarchFit = ReturnType<typeof fitGarch>;

/**
 * The parameters of a block (of daily log returns in percent), and the first row with a return and its variance in percent squared; reads
 * nothing after its training days.
 * @throws OracleError INPUT_INVALID for too short or constant prices
 */
export function fitGarch(history: BaselineHistory, block: number, horizonDays: HorizonDays) {
  const { closes, features } = history;
  const from = Math.max(1, TRAINING_START + 1 - features.firstDay);
  const to = Math.min(closes.length, getTrainingEndRow(history, block, horizonDays));
  const returns = new Float64Array(Math.max(0, to - from));
  for (let index = 0; index < returns.length; index++) returns[index] = computeReturn(closes, from + index);
  const seed = returns.length < MIN_RETURNS ? Number.NaN : sampleVariance(returns, 0);
  if (!(seed > 0)) throw new OracleError('INPUT_INVALID', `${returns.length} daily returns give no variance`, { field: 'close' });
  const { mu, persistence, alphaShare, degrees } = START;
  const alpha = persistence * alphaShare;
  const start = toVariables({ mu, omega: seed * (1 - persistence), alpha, beta: persistence - alpha, degrees });
  const { at } = minimize(createLikelihood(returns, seed), start, TOLERANCE);
  return { parameters: toParameters(at), from, seed };
}

function forecastGarch(history: BaselineHistory, fit: GarchFit & { grid: Float64Array }, horizonDays: HorizonDays): BaselineForecast {
  const { mu } = fit.parameters;
  const variances = computeNextVariances(history.closes, fit);
  return (row) => {
    requireRow(history, row);
    const scale = Math.sqrt(sumVariances(fit.parameters, variances[row], horizonDays)) / PERCENT;
    const mean = (horizonDays * mu) / PERCENT;
    return fit.grid.map((z) => mean + scale * z);
  };
}

/** Variance of the day after each row, in percent squared; `NaN` before the first return. */
function computeNextVariances(closes: Float64Array, { parameters, from, seed }: GarchFit): Float64Array {
  const { mu, omega, alpha, beta } = parameters;
  const variances = new Float64Array(closes.length).fill(Number.NaN);
  let variance = seed;
  for (let row = from; row < closes.length; row++) {
    variance = omega + alpha * (computeReturn(closes, row) - mu) ** 2 + beta * variance;
    variances[row] = variance;
  }
  return variances;
}

/** Sum of the expected variances of `days` days from that of the first. */
function sumVariances({ omega, alpha, beta }: GarchParameters, first: number, days: number): number {
  let [sum, variance] = [0, first];
  for (let day = 0; day < days; day++) {
    sum += variance;
    variance = omega + (alpha + beta) * variance;
  }
  return sum;
}

function computeReturn(closes: Float64Array, row: number): number {
  return PERCENT * Math.log(closes[row] / closes[row - 1]);
}

/**
 * Daily variance `omega + alpha e^2 + beta variance`, with e the return less `mu`; innovations are Student's t of variance 1 with degrees
 * of freedom above 2.
 */
type GarchParameters = ReturnType<typeof toParameters>;

/** Below 1, so that the variance has a mean to return to. */
const MAX_PERSISTENCE = 0.9999;
/** The variance of t is infinite at 2. */
const MIN_DEGREES = 2.05;
const DIFFERENCE = 1e-4;

/** Unbounded variables of the optimiser: mu, ln omega, logit persistence, logit alpha's share of it, ln(degrees - 2.05). */
export function toParameters(at: ArrayLike<number>) {
  const persistence = MAX_PERSISTENCE * sigmoid(at[2]);
  const alpha = persistence * sigmoid(at[3]);
  return { mu: at[0], omega: Math.exp(at[1]), alpha, beta: persistence - alpha, degrees: MIN_DEGREES + Math.exp(at[4]) };
}

export function toVariables({ mu, omega, alpha, beta, degrees }: GarchParameters): number[] {
  const persistence = alpha + beta;
  return [mu, Math.log(omega), logit(persistence / MAX_PERSISTENCE), logit(alpha / persistence), Math.log(degrees - MIN_DEGREES)];
}

/** Mean negative log likelihood of returns, with its gradient by the variables; the first variance is `seed`. */
export function createLikelihood(returns: Float64Array, seed: number) {
  const slopes = new Float64Array(5);
  return (at: Float64Array, gradient: Float64Array): number => {
    const parameters = toParameters(at);
    const value = sumLikelihood(returns, seed, parameters, slopes);
    toVariableGradient(at, parameters, slopes, gradient);
    for (let index = 0; index < gradient.length; index++) gradient[index] /= returns.length;
    return value / returns.length;
  };
}

/** Negative log likelihood; writes its derivatives by mu, omega, alpha, beta and degrees into `slopes`. */
function sumLikelihood(returns: Float64Array, seed: number, parameters: GarchParameters, slopes: Float64Array): number {
  const { mu, omega, alpha, beta, degrees } = parameters;
  const half = (degrees + 1) / 2;
  let [variance, byMu, byOmega, byAlpha, byBeta] = [seed, 0, 0, 0, 0];
  let [sum, logs, degreeSlope] = [0, 0, 0];
  slopes.fill(0);
  for (let index = 0; index < returns.length; index++) {
    const error = returns[index] - mu;
    const squared = error * error;
    const spread = (degrees - 2) * variance;
    const ratio = squared / (spread + squared);
    sum += Math.log(variance);
    logs += Math.log1p(squared / spread);
    degreeSlope += ratio;
    const byVariance = (0.5 - half * ratio) / variance;
    slopes[0] += byVariance * byMu - (2 * half * error) / (spread + squared);
    slopes[1] += byVariance * byOmega;
    slopes[2] += byVariance * byAlpha;
    slopes[3] += byVariance * byBeta;
    byMu = beta * byMu - 2 * alpha * error;
    byOmega = 1 + beta * byOmega;
    byAlpha = squared + beta * byAlpha;
    byBeta = variance + beta * byBeta;
    variance = omega + alpha * squared + beta * variance;
  }
  const n = returns.length;
  const normSlope = (logNorm(degrees + DIFFERENCE) - logNorm(degrees - DIFFERENCE)) / (2 * DIFFERENCE);
  slopes[4] = 0.5 * logs - (half / (degrees - 2)) * degreeSlope - n * normSlope;
  return 0.5 * sum + half * logs - n * logNorm(degrees);
}

/** Logarithm of the constant of the density of a t of variance 1. */
function logNorm(degrees: number): number {
  return logGamma((degrees + 1) / 2) - logGamma(degrees / 2) - 0.5 * Math.log(Math.PI * (degrees - 2));
}

function toVariableGradient(at: ArrayLike<number>, parameters: GarchParameters, slopes: Float64Array, gradient: Float64Array): void {
  const { omega, alpha, beta, degrees } = parameters;
  const persistence = alpha + beta;
  const share = alpha / persistence;
  gradient[0] = slopes[0];
  gradient[1] = slopes[1] * omega;
  gradient[2] = (slopes[2] * share + slopes[3] * (1 - share)) * persistence * (1 - sigmoid(at[2]));
  gradient[3] = (slopes[2] - slopes[3]) * persistence * share * (1 - share);
  gradient[4] = slopes[4] * (degrees - MIN_DEGREES);
}

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012,
  9.984369578019572e-6, 1.5056327351493116e-7,
];
const MAX_TERMS = 300;
const TINY = 1e-300;

/** Natural logarithm of the gamma function for x >= 0.5 (Lanczos, g = 7): relative error below 1e-14. */
export function logGamma(x: number): number {
  let sum = 0.9999999999998099;
  for (let index = 0; index < LANCZOS.length; index++) sum += LANCZOS[index] / (x + index);
  const t = x + LANCZOS.length - 1.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Quantile of Student's t at `p`, 0 < p < 1, by Newton's method within a bracket; `degrees` > 0. */
export function studentTQuantile(p: number, degrees: number): number {
  if (p === 0.5) return 0;
  if (p < 0.5) return -studentTQuantile(1 - p, degrees);
  let low = 0;
  let high = 1;
  while (studentTCdf(high, degrees) < p) high *= 2;
  let t = high / 2;
  for (let step = 0; step < MAX_TERMS && high - low > 1e-13 * high; step++) {
    const error = studentTCdf(t, degrees) - p;
    if (error > 0) high = t;
    else low = t;
    const next = t - error / studentTDensity(t, degrees);
    const moved = next > low && next < high ? next : (low + high) / 2;
    if (Math.abs(moved - t) < 1e-14 * t) return moved;
    t = moved;
  }
  return t;
}

export function studentTDensity(t: number, degrees: number): number {
  const log = logGamma((degrees + 1) / 2) - logGamma(degrees / 2 + 1) + Math.log(degrees / 2) - 0.5 * Math.log(degrees * Math.PI);
  return Math.exp(log - ((degrees + 1) / 2) * Math.log1p((t * t) / degrees));
}

export function studentTCdf(t: number, degrees: number): number {
  const tail = 0.5 * incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5);
  return t > 0 ? 1 - tail : tail;
}

/** Regularised incomplete beta function, by the continued fraction of DLMF 8.17.22. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const log = logGamma(a + b + 1) - Math.log(a + b) - logGamma(a + 1) - logGamma(b + 1) + Math.log(a) + Math.log(b);
  const front = Math.exp(log + a * Math.log(x) + b * Math.log1p(-x));
  if (x > (a + 1) / (a + b + 2)) return 1 - (front * continueFraction(1 - x, b, a)) / b;
  return (front * continueFraction(x, a, b)) / a;
}

/** Lentz's method. */
function continueFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m < MAX_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return value;
}

function nonZero(x: number): number {
  return Math.abs(x) < TINY ? TINY : x;
}

/** Value of a function of several variables; writes its gradient. */
type Objective = (at: Float64Array, gradient: Float64Array) => number;

const MAX_STEPS = 100;
const MAX_HALVINGS = 30;
/** Longest step of a variable, so that a poor first curvature cannot leave the region of the start. */
const MAX_STEP = 1;
/** Share of the decrease that the slope promises (Armijo). */
const SUFFICIENT = 1e-4;

/** Local minimum by BFGS with a backtracking line search; the same input gives the same result. */
export function minimize(objective: Objective, start: ArrayLike<number>, tolerance: number): { at: Float64Array; value: number } {
  const at = Float64Array.from(start);
  const size = at.length;
  const identity = Float64Array.from({ length: size * size }, (_, index) => (index % (size + 1) === 0 ? 1 : 0));
  const state = { at, gradient: new Float64Array(size), value: 0, inverse: identity };
  state.value = objective(at, state.gradient);
  for (let step = 0; step < MAX_STEPS; step++) {
    const direction = multiply(state.inverse, state.gradient).map((value) => -value);
    const slope = dot(direction, state.gradient);
    const found = slope < 0 ? searchLine(objective, state, direction, slope) : null;
    if (found === null) break;
    const decrease = state.value - found.value;
    const moved = found.at.map((value, index) => value - state.at[index]);
    const change = found.gradient.map((value, index) => value - state.gradient[index]);
    updateInverse(state.inverse, moved, change);
    Object.assign(state, found);
    if (decrease < tolerance) break;
  }
  return { at: state.at, value: state.value };
}

interface Point {
  at: Float64Array;
  gradient: Float64Array;
  value: number;
}

function searchLine(objective: Objective, from: Point, direction: Float64Array, slope: number): Point | null {
  let length = Math.min(1, MAX_STEP / Math.max(...direction.map(Math.abs)));
  const gradient = new Float64Array(direction.length);
  for (let halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
    const at = from.at.map((value, index) => value + length * direction[index]);
    const value = objective(at, gradient);
    if (value <= from.value + SUFFICIENT * length * slope) return { at, gradient, value };
  }
  return null;
}

/** BFGS update of the inverse Hessian, row-major; left out where the curvature is not positive. */
function updateInverse(inverse: Float64Array, moved: Float64Array, change: Float64Array): void {
  const curvature = dot(moved, change);
  if (!(curvature > 0)) return;
  const size = moved.length;
  const product = multiply(inverse, change);
  const factor = (1 + dot(change, product) / curvature) / curvature;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      inverse[i * size + j] += factor * moved[i] * moved[j] - (product[i] * moved[j] + moved[i] * product[j]) / curvature;
    }
  }
}

function multiply(matrix: Float64Array, vector: Float64Array): Float64Array {
  const size = vector.length;
  return vector.map((_, i) => dot(matrix.subarray(i * size, (i + 1) * size), vector));
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index] * b[index];
  return sum;
}

/** Distributions that a model version is compared with. */
export const BASELINES = [CLIMATOLOGY, EWMA, GARCH] as const;
export type BaselineName = (typeof BASELINES)[number]['name'];

/** 199 quantiles of the h-day log return by baseline; null where the history is too short for it. */
export type BaselineGrids = Record<BaselineName, Float64Array | null>;

type FittedBlock = (history: BaselineHistory) => BaselineForecast;

/** @param closes of every day from the first on, at least to the day before @param priceUsd at the forecast */
export type DayBaselines = (closes: DailyCloses, day: Day, priceUsd: number, horizonDays: HorizonDays) => BaselineGrids;

/** Forecasts of the baselines from the closes before a day and the price at its forecast; each block is fitted once. */
export function createDayBaselines(): DayBaselines {
  const fits = new Map<string, FittedBlock | null>();
  return (closes, day, priceUsd, horizonDays) => {
    const { firstDay } = closes;
    const row = day - firstDay;
    const known = Float64Array.of(...closes.closes.subarray(0, row), priceUsd);
    const history = { closes: known, features: { firstDay, v94: computeVariance(known, 0.94) } };
    const block = getBlockIndex(day);
    const entries = BASELINES.map((baseline) => {
      const fitted = getOrInsert(fits, `${baseline.name} ${block} ${horizonDays}`, () =>
        tryFit(() => baseline.fitBlock(history, block, horizonDays)),
      );
      return [baseline.name, fitted?.(history)(row) ?? null];
    });
    return Object.fromEntries(entries) as BaselineGrids;
  };
}

function tryFit(compute: () => FittedBlock): FittedBlock | null {
  try {
    return compute();
  } catch (error) {
    return orElse<FittedBlock | null>('INPUT_INVALID', null)(error);
  }
}
