import { computeScale } from '../../distribution.ts';
import type { FeatureTable } from '../../features/feature-table.ts';
import { squash } from '../../features/rolling.ts';
import type { BlockFit } from '../../fit/walk-forward.ts';
import type { HorizonDays } from '../../model.ts';
import { toDirection } from '../../signal.ts';
import { type BacktestHistory, computeLogReturn, fitBlocks, type OutOfSampleDay } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import { computeAccuracyBy, computeAccuracyLimit } from './accuracy.ts';
import { type CanaryDescription, type CanaryRun, completedCanary, skippedCanary } from './canary.ts';

const TEXT: CanaryDescription = {
  name: 'accuracy-limit',
  what: 'Accuracy of the likelier direction on all out-of-sample days, at the horizon nearest to its limit or farthest beyond; a figure above the limit suggests a leak',
  unit: 'share of days right, 0 to 1',
};

/** Checks the accuracy against its limit; the mutant is a model that knows the window's return. */
export function runAccuracyLimitCanary(
  horizons: readonly { horizonDays: HorizonDays; days: readonly OutOfSampleDay[] }[],
  history: BacktestHistory,
  { walk, rules }: Pipeline,
): CanaryRun {
  const candidates = horizons.flatMap(({ days, horizonDays }) => {
    const limit = computeAccuracyLimit(days, horizonDays);
    if (limit === null) return [];
    return [{ days, horizonDays, limit, right: computeAccuracyBy(days, ({ pUp }) => toDirection(pUp) === 'UP') }];
  });
  const [worst] = candidates.sort((a, b) => b.right - b.limit - (a.right - a.limit));
  if (worst === undefined) return skippedCanary(TEXT, 'there are too few out-of-sample days to distinguish a leak from luck');
  const { horizonDays: horizon, days, limit, right } = worst;
  const pUpByRow = indexByRow(fitBlocks({ ...history, features: leakWindowReturn(history, horizon), horizon, rules }, walk));
  const what = `a model of ${horizon} days that reads the return of the forecast window as momentum`;
  const leaked = computeAccuracyBy(days, ({ row }) => toDirection(pUpByRow.get(row)!) === 'UP');
  return completedCanary(TEXT, { figure: right, limit, note: `at ${horizon} days`, mutants: [{ what, figure: leaked }] });
}

function indexByRow(blocks: readonly BlockFit[]): Map<number, number> {
  return new Map(blocks.flatMap(({ from, pUp }) => Array.from(pUp, (p, index): [number, number] => [from + index, p])));
}

/** The table with the return of the forecast window as momentum, where known. */
function leakWindowReturn({ closes, features }: BacktestHistory, horizonDays: number): FeatureTable {
  const momentum = features.momentum.map((before, row) => {
    const known = squash(computeLogReturn(closes, row, horizonDays) / computeScale(features.v94[row], features.v99[row], horizonDays));
    return Number.isNaN(known) ? before : known;
  });
  return { ...features, momentum };
}
