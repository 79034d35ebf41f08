import type { QuantileGrid } from '../distribution.ts';
import { MODEL_NAMES, type ModelName } from '../models/registry.ts';
import { type GridScores, scoreGrid } from '../scoring/grid-scores.ts';
import { computeLossDifference, computeMaxDifference } from './loss-difference.ts';

/** A version against the one before it, on one forecast. */
export interface Comparison {
  challenger: ModelName;
  against: ModelName;
  /** The most by which their CRPS can differ, known at commitment. */
  limit: number;
  /** As of `computeLossDifference`: above 0 the challenger was better. */
  difference: number;
}

export type ModelScores = Partial<Record<ModelName, GridScores>>;

/** Scores of the committed distributions of one forecast, and the comparisons that count for the e-process. */
export function scoreDistributions(grids: ReadonlyMap<ModelName, QuantileGrid>, realised: number) {
  const models: ModelScores = {};
  for (const [name, grid] of grids) models[name] = scoreGrid(grid, realised);
  return { models, comparisons: compareVersions(grids, realised) };
}

/** Each version with the one before it; a day without one of both counts for neither. */
function compareVersions(grids: ReadonlyMap<ModelName, QuantileGrid>, realised: number): Comparison[] {
  return listComparisons().flatMap(({ challenger, against }) => {
    const [champion, other] = [grids.get(against), grids.get(challenger)];
    if (champion === undefined || other === undefined) return [];
    const limit = computeMaxDifference(champion, other);
    return [{ challenger, against, limit, difference: computeLossDifference(champion, other, realised) }];
  });
}

export function listComparisons(): { challenger: ModelName; against: ModelName }[] {
  return MODEL_NAMES.slice(1).map((challenger, index) => ({ challenger, against: MODEL_NAMES[index]! }));
}
