import type { TrainingSource } from '../../fit/training-data.ts';
import type { BlockFit } from '../../fit/walk-forward.ts';
import { EMBARGO_DAYS, getBlockStart, type HorizonDays, type HorizonModel, LEARNING_RULES, MODEL_INPUTS } from '../../model.ts';
import type { BacktestHistory } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import { type CanaryDescription, type CanaryRun, completedCanary, skippedCanary } from './canary.ts';
import { maxAbsoluteDifference, pickFirstMiddleLast } from './sample.ts';

const TEXT: CanaryDescription = {
  name: 'training-cut',
  what: `Replaces every close and score hidden from a block's model, from ${EMBARGO_DAYS} days before the block on, and fits again: coefficients, calibration, base rate and residual quantiles must be bit-identical`,
  unit: 'largest change of any fitted number',
};

export interface HorizonBlocks {
  horizonDays: HorizonDays;
  blocks: readonly BlockFit[];
}

/** Checks on a few blocks of each horizon that a fit reads nothing after its training period. */
export function runTrainingCutCanary(horizons: readonly HorizonBlocks[], history: BacktestHistory, pipeline: Pipeline): CanaryRun {
  const longest = horizons.at(-1);
  const first = longest?.blocks[0];
  if (longest === undefined || first === undefined) return skippedCanary(TEXT, 'the history is too short for any block');
  const { closes, features } = history;
  const source = { closes, features, horizon: longest.horizonDays };
  const fitted = horizons.flatMap(({ horizonDays: horizon, blocks }) =>
    sampleBlocks(blocks, horizon === longest.horizonDays).map(({ model }) => ({ model, source: { closes, features, horizon } })),
  );
  const changeBy = (rules: Pipeline['rules']) => {
    const broken = { ...pipeline, rules };
    return measureChange(fitLastModel(broken, source, first.model.block), source, broken);
  };
  return completedCanary(TEXT, {
    limit: 0,
    figure: Math.max(...fitted.map(({ model, source }) => measureChange(model, source, pipeline))),
    note: `${fitted.length} models: blocks ${[...new Set(fitted.map(({ model }) => model.modelVersion))].join(', ')}`,
    mutants: [
      {
        what: 'labels count as known before their windows are over',
        figure: changeBy({ ...LEARNING_RULES, lastKnownDay: (day) => day - 1 }),
      },
      { what: 'training continues until the block, without embargo', figure: changeBy({ ...LEARNING_RULES, embargoDays: 0 }) },
    ],
  });
}

/** Fitting the last block fits all earlier ones, so only the longest horizon includes it. */
function sampleBlocks(blocks: readonly BlockFit[], isLongest: boolean): BlockFit[] {
  const sample = pickFirstMiddleLast(blocks);
  return isLongest ? sample : sample.slice(0, 2);
}

/** Largest change of a model after the data hidden from it is replaced. */
function measureChange(model: HorizonModel, source: TrainingSource, pipeline: Pipeline): number {
  const again = fitLastModel(pipeline, maskFuture(source, model.block), model.block);
  return maxAbsoluteDifference(getLearnedNumbers(model), getLearnedNumbers(again));
}

function fitLastModel({ walk, rules }: Pipeline, source: TrainingSource, lastBlock: number): HorizonModel {
  return walk({ ...source, rules, lastBlock }).at(-1)!.model;
}

function getLearnedNumbers({ baseRate, calA, calB, beta, meanX, residualQuantiles }: HorizonModel): number[] {
  return [baseRate, calA, calB, ...beta, ...meanX, ...residualQuantiles];
}

/** Replaces closes past the last label and scores of days without one. The bounds do not use the rules under test. */
export function maskFuture(source: TrainingSource, block: number): TrainingSource {
  const { closes, features, horizon } = source;
  const firstClose = getBlockStart(block) - EMBARGO_DAYS - features.firstDay;
  const firstScore = firstClose - horizon;
  const replaced = { ...features };
  for (const name of MODEL_INPUTS)
    replaced[name] = features[name].map((score, row) => (row < firstScore ? score : -0.9 * Math.sign(score)));
  for (const name of ['v94', 'v99', 'rangeVariance'] as const)
    replaced[name] = features[name].map((value, row) => (row < firstScore ? value : 9 * value));
  return {
    ...source,
    closes: closes.map((close, row) => (row < firstClose ? close : close * (row % 2 === 0 ? 3 : 0.3))),
    features: replaced,
  };
}
