import type { InputFrame } from '../../input-frame.ts';
import type { BacktestHistory, Fold } from '../out-of-sample.ts';
import type { Pipeline } from '../pipeline.ts';
import type { WalkedVersion } from '../walk-forward/versions.ts';
import { runAccuracyLimitCanary } from './accuracy-limit.ts';
import { runCalibrationCanary } from './calibration.ts';
import type { Canary, CanaryRun } from './canary.ts';
import { cutForecastDays } from './cuts.ts';
import { runForecastCutCanary } from './forecast-cut.ts';
import { runLabelCanaries } from './labels.ts';
import { runPointInTimeCanary } from './point-in-time.ts';
import { type HorizonBlocks, runTrainingCutCanary } from './training-cut.ts';
import { runVersionForecastCutCanary } from './versions/forecast-cut.ts';
import { cutBlocks, runVersionTrainingCutCanary } from './versions/training-cut.ts';

/** From the shortest horizon to the longest. */
interface CanaryWalks {
  walks: readonly (HorizonBlocks & { folds: readonly Fold[] })[];
  versions: readonly WalkedVersion[];
}

/** Runs all leak canaries: of labels, features and direction for all versions at once, of fits and distributions for each. */
export function runCanaries(
  source: BacktestHistory & { frame: InputFrame },
  { walks, versions }: CanaryWalks,
  pipeline: Pipeline,
): Canary[] {
  const horizons = walks.map(({ horizonDays, folds }) => ({ horizonDays, days: folds.flatMap(({ days }) => days) }));
  // Windows overlap most at the longest horizon.
  const longest = horizons[horizons.length - 1];
  const [reference, ...others] = versions;
  const [cuts, blockCuts] = [cutForecastDays(walks, source, pipeline), cutBlocks(walks, source, pipeline)];
  const forAll = (run: CanaryRun): Canary => ({ ...run, versions: versions.map(({ version }) => version.name) });
  const forOne = ({ version }: WalkedVersion, run: CanaryRun): Canary => ({ ...run, versions: [version.name] });
  return [
    ...runLabelCanaries({ ...source, ...longest }, pipeline.rules).map(forAll),
    forOne(reference, runTrainingCutCanary(walks, source, pipeline)),
    ...others.map((one) => forOne(one, runVersionTrainingCutCanary(one.version, blockCuts))),
    forAll(runCalibrationCanary(walks, source)),
    forAll(runPointInTimeCanary(source, pipeline)),
    forOne(reference, runForecastCutCanary(cuts, pipeline)),
    ...others.map((one) => forOne(one, runVersionForecastCutCanary(one, cuts))),
    forAll(runAccuracyLimitCanary(horizons, source, pipeline)),
  ];
}
