import { OracleError } from '../errors.ts';
import { interpolateQuantile, mean } from './math.ts';

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
const QUANTILE_STEP = 1 / (QUANTILE_COUNT + 1);
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
  return probabilityAtMost(residualQuantiles, logReturn / scale + shift);
}

/** P(price > strike) at the end of the horizon from today's price `spot`, both > 0 in the same currency. */
export function probabilityAbove(at: { distribution: PredictiveDistribution; spot: number; strike: number }): number {
  return 1 - cdf(at.distribution, Math.log(at.strike / at.spot));
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

/** Probability of at most `z` under 199 quantiles with exponential tails. */
export function probabilityAtMost(grid: QuantileGrid, z: number): number {
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
function lowerTail(grid: QuantileGrid): number {
  return grid[TAIL_COUNT] - mean(grid.slice(0, TAIL_COUNT));
}

function upperTail(grid: QuantileGrid): number {
  return mean(grid.slice(LAST_QUANTILE - TAIL_COUNT + 1)) - grid[LAST_QUANTILE - TAIL_COUNT];
}

export type GridScores = ReturnType<typeof scoreGrid>;

/** Unit of the committed quantiles: closer ones, and a tail shorter than it, count as this far apart. */
const MIN_WIDTH = 1e-6;
/** Density far outside the grid, so that one outcome costs at most 20.7. */
const MIN_DENSITY = 1e-9;

/**
 * Scores of a distribution for the realised log return; of CRPS and log score, lower is better.
 * @throws OracleError INPUT_INVALID for a grid that descends or is not finite
 */
export function scoreGrid(grid: QuantileGrid, realised: number) {
  requireGrid(grid);
  return {
    /** In log-return units. */
    crps: computeGridCrps(grid, realised),
    /** Negative natural logarithm of the density, per unit of log return. */
    logScore: computeLogScore(grid, realised),
    /** Probability integral transform: the probability of at most the outcome. */
    pit: probabilityAtMost(grid, realised),
    /** Whether the central range of that probability contains the outcome, bounds included. */
    in50: isInCentralRange(grid, realised, 0.5),
    in80: isInCentralRange(grid, realised, 0.8),
    in90: isInCentralRange(grid, realised, 0.9),
  };
}

/** Twice the mean pinball loss of the quantiles. */
export function computeGridCrps(grid: QuantileGrid, realised: number): number {
  let sum = 0;
  for (let index = 0; index < QUANTILE_COUNT; index++) {
    const error = realised - grid[index];
    const level = (index + 1) * QUANTILE_STEP;
    sum += error >= 0 ? level * error : (level - 1) * error;
  }
  return (2 * sum) / QUANTILE_COUNT;
}

/** Of the density that is constant between neighbouring quantiles and exponential in the tails. */
export function computeLogScore(grid: QuantileGrid, realised: number): number {
  return -Math.log(Math.max(MIN_DENSITY, computeDensity(grid, realised)));
}

/** Whether the central range of probability `share` contains the outcome; `share` in steps of .01. */
export function isInCentralRange(grid: QuantileGrid, realised: number, share: number): boolean {
  const [below, above] = getCentralIndexes(share);
  return realised >= grid[below] && realised <= grid[above];
}

function computeDensity(grid: QuantileGrid, realised: number): number {
  if (realised < grid[0]) return computeTailDensity(grid[0] - realised, lowerTail(grid));
  if (realised > grid[LAST_QUANTILE]) return computeTailDensity(realised - grid[LAST_QUANTILE], upperTail(grid));
  let below = 0;
  while (below < LAST_QUANTILE - 1 && grid[below + 1] <= realised) below++;
  return QUANTILE_STEP / Math.max(MIN_WIDTH, grid[below + 1] - grid[below]);
}

function computeTailDensity(excess: number, tail: number): number {
  const scale = Math.max(MIN_WIDTH, tail);
  return (QUANTILE_STEP / scale) * Math.exp(-excess / scale);
}

/** @throws OracleError INPUT_INVALID unless there are 199 finite quantiles in ascending order */
export function requireGrid(grid: QuantileGrid): void {
  for (let index = 0; index < QUANTILE_COUNT; index++) {
    if (Number.isFinite(grid[index]) && (index === 0 || grid[index] >= grid[index - 1])) continue;
    throw new OracleError('INPUT_INVALID', `quantile ${index + 1} of ${QUANTILE_COUNT} is ${grid[index]}`, { field: 'quantiles' });
  }
}

/** Levels of the grid: .005, .010 ... .995. */
export const QUANTILE_LEVELS: Float64Array = Float64Array.from({ length: QUANTILE_COUNT }, (_, index) => (index + 1) * QUANTILE_STEP);

/** The 199 quantiles of the log return. */
export function toQuantileGrid({ scale, shift, residualQuantiles }: PredictiveDistribution): Float64Array {
  return Float64Array.from(residualQuantiles, (residual) => scale * (residual - shift));
}

/** Indexes of the quantiles that bound the central range of probability `share`, in steps of .01. */
function getCentralIndexes(share: number): [below: number, above: number] {
  const below = Math.round((1 - share) / 2 / QUANTILE_STEP) - 1;
  return [below, LAST_QUANTILE - below];
}

/** Probabilities of the published central ranges. */
export const CENTRAL_SHARES = [0.5, 0.8, 0.9] as const;

export type CentralHalfWidths = ReturnType<typeof computeHalfWidths>;

/** Units in a log return of 1, as in committed quantiles. */
export const UNITS_PER_LOG_RETURN = 1e6;

/**
 * Half widths of the central ranges, whole units of 1e-6: half the distances between the quantiles that bound them. P(up) moves all
 * quantiles by the same shift, which no distance contains, so that these are the widths of the distribution with P(up) one half too.
 */
export function computeHalfWidths({ scale, residualQuantiles }: Omit<PredictiveDistribution, 'shift'>) {
  const [central50, central80, central90] = CENTRAL_SHARES.map((share) => {
    const [below, above] = getCentralIndexes(share);
    return Math.round((UNITS_PER_LOG_RETURN * scale * (residualQuantiles[above] - residualQuantiles[below])) / 2);
  });
  return { central50, central80, central90 };
}

/** Those of a forecast by `m0-d1`, from the daily variances of its day. */
export function computeHalfWidthsFromVariance(
  { v94, v99 }: { v94: number; v99: number },
  { horizonDays, residualQuantiles }: { horizonDays: number; residualQuantiles: readonly number[] },
): CentralHalfWidths {
  return computeHalfWidths({ scale: computeScale(v94, v99, horizonDays), residualQuantiles });
}

/** A range around a price, symmetric in the logarithm. */
export function widenPrice(price: number, halfWidthUnits: number): { low: number; high: number } {
  const factor = Math.exp(halfWidthUnits / UNITS_PER_LOG_RETURN);
  return { low: price / factor, high: price * factor };
}
