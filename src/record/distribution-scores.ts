import type { Collection, Db } from 'mongodb';
import { fromQuantilesMicro } from '../chain/eas/schemas.ts';
import type { BaselineGrids, BaselineName } from '../forecast/baselines.ts';
import { type Comparison, type ModelScores, scoreDistributions } from '../forecast/challenge.ts';
import type { Day } from '../forecast/day.ts';
import { type GridScores, scoreGrid } from '../forecast/distribution.ts';
import type { ModelName } from '../forecast/models.ts';
import { type MoveScores, type ReferenceProbabilities, scoreMove } from '../forecast/move-scores.ts';
import { ignoreDuplicate } from '../platform/mongo.ts';
import { type ForecastDoc, getReturnFromSignal, readQuantilesMicro, type StoredDistribution } from './forecast-doc.ts';

/** Scores of the distributions of a decided forecast. `_id` is that of the forecast; hidden until its resolution is on chain. */
export interface DistributionScoresDoc {
  _id: string;
  day: Day;
  horizonDays: number;
  champion: ModelName;
  /** Log return from the price at the forecast to the close of the resolution. */
  realised: number;
  models: ModelScores;
  /** Null where the prices reach back too short for the baseline. */
  baselines: Record<BaselineName, GridScores | null>;
  comparisons: Comparison[];
  /** Null without a size of the move. */
  move: MoveScores | null;
}

export const DISTRIBUTION_SCORES_INDEXES = [
  { collection: 'distribution_scores', indexes: [{ key: { horizonDays: 1, day: 1 }, unique: true }] },
];

/** Written once per forecast, from its stored decision and committed distributions, before the decision is revealed. */
export class DistributionScores {
  readonly #scores: Collection<DistributionScoresDoc>;

  constructor(db: Db) {
    this.#scores = db.collection('distribution_scores');
  }

  /** The first write of a forecast stands: all are computed from the same stored values. */
  async save(docs: readonly DistributionScoresDoc[]): Promise<void> {
    if (docs.length > 0) await this.#scores.insertMany([...docs], { ordered: false }).catch(ignoreDuplicate);
  }
}

/** @param stored the distributions of the forecast, the champion's first */
export function buildDistributionScores(
  doc: Pick<ForecastDoc, '_id' | 'day' | 'horizonDays' | 'values' | 'resolution' | 'move'>,
  stored: readonly StoredDistribution[],
  { baselines, references }: { baselines: BaselineGrids; references: ReferenceProbabilities },
): DistributionScoresDoc {
  const { _id, day, horizonDays } = doc;
  const realised = getReturnFromSignal(doc);
  const grids = new Map(stored.map((one) => [one.name, fromQuantilesMicro(readQuantilesMicro(one))]));
  const scored = Object.entries(baselines).map(([name, grid]) => [name, grid && scoreGrid(grid, realised)]);
  return {
    _id,
    day,
    horizonDays,
    champion: stored[0]!.name,
    realised,
    ...scoreDistributions(grids, realised),
    baselines: Object.fromEntries(scored) as DistributionScoresDoc['baselines'],
    move: doc.move == null ? null : scoreMove(doc.move, realised, references),
  };
}
