import { EMBARGO_DAYS, type HorizonModel } from '../../../model.ts';
import type { ModelRows, ModelVersion } from '../../../models/model-version.ts';
import type { BacktestHistory } from '../../out-of-sample.ts';
import type { Pipeline } from '../../pipeline.ts';
import { type CanaryDescription, type CanaryRun, completedCanary, skippedCanary } from '../canary.ts';
import { maxAbsoluteDifference, pickFirstMiddleLast } from '../sample.ts';
import { type HorizonBlocks, maskFuture } from '../training-cut.ts';
import { VERSION_MUTANTS } from './mutants.ts';

const TEXT: CanaryDescription = {
  name: 'training-cut',
  what: `Replaces every close and variance hidden from a block's model, from ${EMBARGO_DAYS} days before the block on, and fits what the version adds to the direction again: every number must be bit-identical`,
  unit: 'largest change of any fitted number',
};

/** Data of a block's fit, and the same with all that is hidden from the fit replaced. */
interface BlockCut {
  direction: HorizonModel;
  known: ModelRows;
  masked: ModelRows;
}

/** Checks on a few blocks of each horizon that a version's own fit reads nothing after its training period. */
export function runVersionTrainingCutCanary(version: ModelVersion, cuts: readonly BlockCut[]): CanaryRun {
  if (cuts.length === 0) return skippedCanary(TEXT, 'the history is too short for any block');
  const { fits = [] } = VERSION_MUTANTS[version.name] ?? {};
  const firstBlocks = cuts.filter(({ direction }, index) => direction.horizonDays !== cuts[index - 1]?.direction.horizonDays);
  const changeOf = (broken: ModelVersion, of: readonly BlockCut[]) => Math.max(...of.map((cut) => measureChange(broken, cut)));
  return completedCanary(TEXT, {
    limit: 0,
    figure: changeOf(version, cuts),
    note: `${cuts.length} fits`,
    mutants: fits.map(({ what, version: broken }) => ({ what, figure: changeOf(broken, firstBlocks) })),
  });
}

/** The blocks that every version is examined on. */
export function cutBlocks(walks: readonly HorizonBlocks[], history: BacktestHistory, { rules }: Pick<Pipeline, 'rules'>): BlockCut[] {
  const known = { ...history, rules };
  return walks.flatMap(({ horizonDays: horizon, blocks }) =>
    pickFirstMiddleLast(blocks).map(({ model }) => ({
      direction: model,
      known,
      masked: { ...maskFuture({ ...history, horizon }, model.block), rules },
    })),
  );
}

function measureChange(version: ModelVersion, { direction, known, masked }: BlockCut): number {
  return maxAbsoluteDifference(listNumbers(version.fit(direction, known)), listNumbers(version.fit(direction, masked)));
}

/** All numbers of a fit, so that those of a new version are among them. */
function listNumbers(part: unknown): number[] {
  if (typeof part === 'number') return [part];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(listNumbers) : [];
}
