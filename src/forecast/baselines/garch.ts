import { OracleError } from '../../platform/errors.ts';
import { variance as sampleVariance } from '../math/mean.ts';
import { type HorizonDays, TRAINING_START } from '../model.ts';
import { QUANTILE_LEVELS } from '../scoring/quantile-grid.ts';
import { type BaselineForecast, type BaselineHistory, defineBaseline, getTrainingEndRow, requireRow } from './baseline.ts';
import { createLikelihood, type GarchParameters, toParameters, toVariables } from './garch/likelihood.ts';
import { minimize } from './garch/minimize.ts';
import { studentTQuantile } from './garch/student-t.ts';

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
    const grid = computeUnitGrid(fit.parameters);
    return (history) => forecastGarch(history, { ...fit, grid }, horizonDays);
  },
});

/** In percent, which keeps the variables of the optimiser near 1. */
const PERCENT = 100;
const TOLERANCE = 1e-10;
/** Below a year the parameters are noise. */
const MIN_RETURNS = 365;
const START = { mu: 0.1, persistence: 0.97, alphaShare: 0.12, degrees: 4 };

export interface GarchFit {
  /** Of daily log returns in percent. */
  parameters: GarchParameters;
  /** First row with a return, and its variance in percent squared. */
  from: number;
  seed: number;
}

/** The parameters of a block; reads nothing after its training days. @throws OracleError INPUT_INVALID for too short or constant prices */
export function fitGarch(history: BaselineHistory, block: number, horizonDays: HorizonDays): GarchFit {
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

/** Student's t of variance 1: its quantiles cost more than a forecast from them. */
function computeUnitGrid({ degrees }: GarchParameters): Float64Array {
  const unit = Math.sqrt((degrees - 2) / degrees);
  return QUANTILE_LEVELS.map((level) => unit * studentTQuantile(level, degrees));
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
