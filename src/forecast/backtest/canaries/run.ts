import type { InputFrame } from '../../frame.ts';
import type { BacktestHistory, Fold } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import { accuracyLimitCanary } from './accuracy-limit.ts';
import { calibrationCanary } from './calibration.ts';
import type { Canary } from './canary.ts';
import { forecastCutCanary } from './forecast-cut.ts';
import { labelCanaries } from './labels.ts';
import { pointInTimeCanary } from './point-in-time.ts';
import { type HorizonBlocks, trainingCutCanary } from './training-cut.ts';

/** What the pipeline made of one horizon. */
export interface HorizonWalk extends HorizonBlocks {
  folds: readonly Fold[];
}

/** All leak canaries on what a pipeline made of a history, from the shortest horizon to the longest. */
export function runCanaries(source: BacktestHistory & { frame: InputFrame }, walks: readonly HorizonWalk[], pipeline: Pipeline): Canary[] {
  const horizons = walks.map(({ horizonDays, folds }) => ({ horizonDays, days: folds.flatMap(({ days }) => days) }));
  // Windows overlap most at the longest horizon.
  const longest = horizons[horizons.length - 1];
  return [
    ...labelCanaries({ ...source, ...longest }, pipeline.rules),
    trainingCutCanary(walks, source, pipeline),
    calibrationCanary(walks, source),
    pointInTimeCanary(source, pipeline),
    forecastCutCanary(walks, source, pipeline),
    accuracyLimitCanary(horizons, source, pipeline),
  ];
}
