import type { InputFrame } from '../../input-frame.ts';
import type { BacktestHistory, Fold } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import { runAccuracyLimitCanary } from './accuracy-limit.ts';
import { runCalibrationCanary } from './calibration.ts';
import type { Canary } from './canary.ts';
import { runForecastCutCanary } from './forecast-cut.ts';
import { runLabelCanaries } from './labels.ts';
import { runPointInTimeCanary } from './point-in-time.ts';
import { type HorizonBlocks, runTrainingCutCanary } from './training-cut.ts';

/** Runs all leak canaries; `walks` are ordered from the shortest horizon to the longest. */
export function runCanaries(
  source: BacktestHistory & { frame: InputFrame },
  walks: readonly (HorizonBlocks & { folds: readonly Fold[] })[],
  pipeline: Pipeline,
): Canary[] {
  const horizons = walks.map(({ horizonDays, folds }) => ({ horizonDays, days: folds.flatMap(({ days }) => days) }));
  // Windows overlap most at the longest horizon.
  const longest = horizons[horizons.length - 1];
  return [
    ...runLabelCanaries({ ...source, ...longest }, pipeline.rules),
    runTrainingCutCanary(walks, source, pipeline),
    runCalibrationCanary(walks, source),
    runPointInTimeCanary(source, pipeline),
    runForecastCutCanary(walks, source, pipeline),
    runAccuracyLimitCanary(horizons, source, pipeline),
  ];
}
