import { OracleError } from '../../platform/errors.ts';
import { lowerTail, QUANTILE_COUNT, QUANTILE_STEP, type QuantileGrid, residualCdf, upperTail } from '../distribution.ts';
import { getCentralIndexes } from './quantile-grid.ts';

/** Scores of one distribution for one outcome; of CRPS and log score, lower is better. */
export interface GridScores {
  /** In log-return units. */
  crps: number;
  /** Negative natural logarithm of the density, per unit of log return. */
  logScore: number;
  /** Probability integral transform: the probability of at most the outcome. */
  pit: number;
  /** Whether the central range of that probability contains the outcome, bounds included. */
  in50: boolean;
  in80: boolean;
  in90: boolean;
}

const LAST = QUANTILE_COUNT - 1;
/** Unit of the committed quantiles: closer ones, and a tail shorter than it, count as this far apart. */
const MIN_WIDTH = 1e-6;
/** Density far outside the grid, so that one outcome costs at most 20.7. */
const MIN_DENSITY = 1e-9;

/** Scores of a distribution for the realised log return. @throws OracleError INPUT_INVALID for a grid that descends or is not finite */
export function scoreGrid(grid: QuantileGrid, realised: number): GridScores {
  requireGrid(grid);
  return {
    crps: computeGridCrps(grid, realised),
    logScore: computeLogScore(grid, realised),
    pit: residualCdf(grid, realised),
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
  if (realised > grid[LAST]) return computeTailDensity(realised - grid[LAST], upperTail(grid));
  let below = 0;
  while (below < LAST - 1 && grid[below + 1] <= realised) below++;
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
