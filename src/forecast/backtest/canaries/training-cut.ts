import type { TrainingSource } from '../../fit/training-data.ts';
import type { BlockFit } from '../../fit.ts';
import { blockStart, EMBARGO_DAYS, type HorizonDays, type HorizonModel, LEARNING_RULES, MODEL_INPUTS } from '../../model.ts';
import type { BacktestHistory } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Canary, type CanaryText, notRun, ran } from './canary.ts';
import { firstMiddleLast, largestDifference } from './sample.ts';

const TEXT: CanaryText = {
  name: 'training-cut',
  what: `Replaces every close and score of which a block's model must know nothing, those of the last ${EMBARGO_DAYS} days before the block and later, and fits again: coefficients, calibration, base rate and residual quantiles must stay what they were, to the last bit`,
  unit: 'largest change of any number that was learned',
};

/** The blocks of one horizon as the pipeline fitted them. */
export interface HorizonBlocks {
  horizonDays: HorizonDays;
  blocks: readonly BlockFit[];
}

/** Whether what was learned for a block depends on anything after its training, on a few blocks of each horizon. */
export function trainingCutCanary(horizons: readonly HorizonBlocks[], { closes, features }: BacktestHistory, pipeline: Pipeline): Canary {
  const longest = horizons.at(-1);
  const first = longest?.blocks[0];
  if (longest === undefined || first === undefined) return notRun(TEXT, 'the history is too short for any block');
  const source = { closes, features, horizon: longest.horizonDays };
  const fitted = horizons.flatMap(({ horizonDays, blocks }) =>
    sampleOf(blocks, horizonDays === longest.horizonDays).map(({ model }) => ({
      model,
      source: { closes, features, horizon: horizonDays },
    })),
  );
  const changeBy = (rules: Pipeline['rules']) => {
    const broken = { ...pipeline, rules };
    return changeOf(lastModel(broken, source, first.model.block), source, broken);
  };
  return ran(TEXT, {
    limit: 0,
    figure: Math.max(...fitted.map(({ model, source }) => changeOf(model, source, pipeline))),
    note: `${fitted.length} models: blocks ${[...new Set(fitted.map(({ model }) => model.modelVersion))].join(', ')}`,
    mutants: [
      {
        what: 'labels count as known before their windows are over',
        figure: changeBy({ ...LEARNING_RULES, lastKnownDay: (day) => day - 1 }),
      },
      { what: 'training goes on until the block begins, without embargo', figure: changeBy({ ...LEARNING_RULES, embargoDays: 0 }) },
    ],
  });
}

/** Fitting the last block takes all blocks before it: once is enough, at the horizon with the longest windows. */
function sampleOf(blocks: readonly BlockFit[], isLongest: boolean): BlockFit[] {
  const sample = firstMiddleLast(blocks);
  return isLongest ? sample : sample.slice(0, 2);
}

/** How much of a model changes when what it must not know is replaced. */
function changeOf(model: HorizonModel, source: TrainingSource, pipeline: Pipeline): number {
  const again = lastModel(pipeline, withoutFuture(source, model.block), model.block);
  return largestDifference(learned(model), learned(again));
}

function lastModel({ walk, rules }: Pipeline, source: TrainingSource, lastBlock: number): HorizonModel {
  return walk({ ...source, rules, lastBlock }).at(-1)!.model;
}

function learned({ baseRate, calA, calB, beta, meanX, residualQuantiles }: HorizonModel): number[] {
  return [baseRate, calA, calB, ...beta, ...meanX, ...residualQuantiles];
}

/** Closes that a label may not end on and scores of days that have no such label are replaced. The bounds do not ask the rules that are tested. */
function withoutFuture(source: TrainingSource, block: number): TrainingSource {
  const { closes, features, horizon } = source;
  const firstClose = blockStart(block) - EMBARGO_DAYS - features.firstDay;
  const firstScore = firstClose - horizon;
  const replaced = { ...features };
  for (const name of MODEL_INPUTS)
    replaced[name] = features[name].map((score, row) => (row < firstScore ? score : -0.9 * Math.sign(score)));
  for (const name of ['v94', 'v99'] as const) replaced[name] = features[name].map((value, row) => (row < firstScore ? value : 9 * value));
  return {
    ...source,
    closes: closes.map((close, row) => (row < firstClose ? close : close * (row % 2 === 0 ? 3 : 0.3))),
    features: replaced,
  };
}
