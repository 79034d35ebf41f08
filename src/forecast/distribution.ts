import { OracleError } from '../platform/errors.ts';
import { interpolateQuantile, mean } from './math/mean.ts';

/**
 * Distribution of a log return: `scale * (Z - shift)`. Z has the 199 quantiles (at .005 to .995) of past returns over their scale,
 * interpolated linearly, with exponential tails.
 */
export interface PredictiveDistribution {
  scale: number;
  /** Z of a return of 0, set so that P(return > 0) is the forecast probability. */
  shift: number;
  residualQuantiles: readonly number[];
}

/** 199 quantiles, at .005 to .995, in ascending order. */
export type QuantileGrid = readonly number[] | Float64Array;

export const QUANTILE_COUNT = 199;
export const QUANTILE_STEP = 1 / (QUANTILE_COUNT + 1);
const LAST_QUANTILE = QUANTILE_COUNT - 1;
const TAIL_COUNT = 9;

/** Standard deviation of an h-day log return from two daily variances; `horizonDays` may be fractional. */
export function computeScale(v94: number, v99: number, horizonDays: number): number {
  return Math.sqrt(horizonDays * (0.5 * v94 + 0.5 * v99));
}

/** The 199 quantiles (type 7) of the finite values. @throws OracleError INPUT_INVALID when none is finite, as for constant prices */
export function computeResidualQuantiles(values: Float64Array): number[] {
  return computeSortedQuantiles(values.filter(Number.isFinite).sort());
}

/** As `computeResidualQuantiles`, of ascending finite values. */
export function computeSortedQuantiles(sorted: Float64Array): number[] {
  if (sorted.length === 0) throw new OracleError('INPUT_INVALID', 'no return can be scaled: the price is constant', { field: 'close' });
  return Array.from({ length: QUANTILE_COUNT }, (_, index) => interpolateQuantile(sorted, (index + 1) * QUANTILE_STEP));
}

/** The distribution with P(return > 0) = `pUp`. */
export function buildDistribution(inputs: { residualQuantiles: readonly number[]; scale: number; pUp: number }): PredictiveDistribution {
  const { residualQuantiles, scale, pUp } = inputs;
  return { scale, shift: residualQuantile(residualQuantiles, 1 - pUp), residualQuantiles };
}

/** Log return at probability `u`, 0 to 1. */
export function quantile(distribution: PredictiveDistribution, u: number): number {
  return distribution.scale * (residualQuantile(distribution.residualQuantiles, u) - distribution.shift);
}

/** P(log return <= `logReturn`). */
export function cdf({ scale, shift, residualQuantiles }: PredictiveDistribution, logReturn: number): number {
  return residualCdf(residualQuantiles, logReturn / scale + shift);
}

/** P(price > strike) at the end of the horizon from today's price `spot`, both > 0 in the same currency. */
export function probabilityAbove(at: { distribution: PredictiveDistribution; spot: number; strike: number }): number {
  return 1 - cdf(at.distribution, Math.log(at.strike / at.spot));
}

export interface PriceQuantile {
  level: number;
  logReturn: number;
  price: number;
}

/** Quantiles as log returns and, from today's price `spot`, as prices. */
export function computePriceQuantiles(distribution: PredictiveDistribution, levels: readonly number[], spot: number): PriceQuantile[] {
  return levels.map((level) => {
    const logReturn = quantile(distribution, level);
    return { level, logReturn, price: spot * Math.exp(logReturn) };
  });
}

/** CRPS of a realised log return, in log-return units: twice the mean pinball loss of the 199 quantiles. */
export function crps({ scale, shift, residualQuantiles }: PredictiveDistribution, realised: number): number {
  let sum = 0;
  for (let index = 0; index < QUANTILE_COUNT; index++) {
    const error = realised - scale * (residualQuantiles[index] - shift);
    const level = (index + 1) * QUANTILE_STEP;
    sum += error >= 0 ? level * error : (level - 1) * error;
  }
  return (2 * sum) / QUANTILE_COUNT;
}

function residualQuantile(grid: readonly number[], u: number): number {
  if (u < QUANTILE_STEP) return grid[0] + lowerTail(grid) * Math.log(Math.max(0, u) / QUANTILE_STEP);
  if (u > 1 - QUANTILE_STEP) return grid[LAST_QUANTILE] - upperTail(grid) * Math.log(Math.max(0, 1 - u) / QUANTILE_STEP);
  const position = u / QUANTILE_STEP - 1;
  const below = Math.min(Math.max(0, Math.floor(position)), LAST_QUANTILE - 1);
  return grid[below] + (position - below) * (grid[below + 1] - grid[below]);
}

/** Probability of at most `z` under a grid with exponential tails. */
export function residualCdf(grid: QuantileGrid, z: number): number {
  if (z < grid[0]) return QUANTILE_STEP * Math.exp((z - grid[0]) / lowerTail(grid));
  if (z > grid[LAST_QUANTILE]) return 1 - QUANTILE_STEP * Math.exp((grid[LAST_QUANTILE] - z) / upperTail(grid));
  if (z === grid[LAST_QUANTILE]) return 1 - QUANTILE_STEP;
  let below = 0;
  let above = LAST_QUANTILE;
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if (grid[middle] <= z) below = middle;
    else above = middle;
  }
  return QUANTILE_STEP * (below + 1 + (z - grid[below]) / (grid[above] - grid[below]));
}

/** Scale of the exponential tail: mean excess below the tenth quantile. */
export function lowerTail(grid: QuantileGrid): number {
  return grid[TAIL_COUNT] - mean(grid.slice(0, TAIL_COUNT));
}

export function upperTail(grid: QuantileGrid): number {
  return mean(grid.slice(LAST_QUANTILE - TAIL_COUNT + 1)) - grid[LAST_QUANTILE - TAIL_COUNT];
}
