import { scaleOf } from '../../distribution.ts';
import { squash } from '../../features/rolling.ts';
import type { FeatureTable } from '../../features.ts';
import type { BlockFit } from '../../fit.ts';
import type { HorizonDays } from '../../model.ts';
import { directionOf } from '../../signal.ts';
import { type BacktestHistory, blocksOf, type OutOfSampleDay, returnAt } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import { accuracyLimit, shareRight } from './accuracy.ts';
import { type Canary, type CanaryText, notRun, ran } from './canary.ts';

const TEXT: CanaryText = {
  name: 'accuracy-limit',
  what: 'The share of days right, by the direction of every out-of-sample day, of the horizon that comes nearest to its limit or is farthest beyond: nobody is that good, so that more is taken for a leak until proven otherwise',
  unit: 'share of days right, 0 to 1',
};

/** Out-of-sample days of one horizon. */
export interface HorizonDaysOf {
  horizonDays: HorizonDays;
  days: readonly OutOfSampleDay[];
}

/** Whether the model is better than it can be, and whether that would show: in a model that knows the window. */
export function accuracyLimitCanary(horizons: readonly HorizonDaysOf[], history: BacktestHistory, { walk, rules }: Pipeline): Canary {
  const judged = horizons.flatMap(({ days, horizonDays }) => {
    const limit = accuracyLimit(days, horizonDays);
    if (limit === null) return [];
    return [{ days, horizonDays, limit, right: shareRight(days, ({ pUp }) => directionOf(pUp) === 'UP') }];
  });
  const [worst] = judged.sort((a, b) => b.right - b.limit - (a.right - a.limit));
  if (worst === undefined) return notRun(TEXT, 'there are too few out-of-sample days to tell a leak from luck');
  const { horizonDays: horizon, days, limit, right } = worst;
  const said = byRow(blocksOf({ ...history, features: withWindowKnown(history, horizon), horizon, rules }, walk));
  return ran(TEXT, {
    figure: right,
    limit,
    note: `at ${horizon} days`,
    mutants: [
      {
        what: `a model of ${horizon} days whose momentum is that of the window which it forecasts`,
        figure: shareRight(days, ({ row }) => directionOf(said.get(row)!) === 'UP'),
      },
    ],
  });
}

/** P(up) of each row that any block speaks of. */
function byRow(blocks: readonly BlockFit[]): Map<number, number> {
  return new Map(blocks.flatMap(({ from, pUp }) => Array.from(pUp, (p, index): [number, number] => [from + index, p])));
}

/** A table whose momentum is that of the window which is forecast; as it was where that is not known. */
function withWindowKnown({ closes, features }: BacktestHistory, horizonDays: number): FeatureTable {
  const momentum = features.momentum.map((before, row) => {
    const known = squash(returnAt(closes, row, horizonDays) / scaleOf(features.v94[row], features.v99[row], horizonDays));
    return Number.isNaN(known) ? before : known;
  });
  return { ...features, momentum };
}
