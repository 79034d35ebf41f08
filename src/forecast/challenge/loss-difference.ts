import { QUANTILE_COUNT, type QuantileGrid } from '../distribution.ts';
import { computeGridCrps } from '../scoring/grid-scores.ts';

/**
 * (CRPS of the champion - CRPS of the challenger) / c with c = 2 mean |q0 - q1|, known at commitment: within -1 to 1, since a pinball loss
 * changes by at most the distance of the quantiles. Above 0 the challenger was better; 0 where both are the same.
 */
export function computeLossDifference(champion: QuantileGrid, challenger: QuantileGrid, realised: number): number {
  const limit = computeMaxDifference(champion, challenger);
  if (limit === 0) return 0;
  const difference = (computeGridCrps(champion, realised) - computeGridCrps(challenger, realised)) / limit;
  // Rounding may move it past its bounds.
  return Math.max(-1, Math.min(1, difference));
}

/** The most by which the CRPS of two distributions can differ, whatever the outcome. */
export function computeMaxDifference(champion: QuantileGrid, challenger: QuantileGrid): number {
  let sum = 0;
  for (let index = 0; index < QUANTILE_COUNT; index++) sum += Math.abs(champion[index] - challenger[index]);
  return (2 * sum) / QUANTILE_COUNT;
}
