import { formatDay } from '../../day.ts';
import type { FeatureTable } from '../../features/feature-table.ts';
import type { InputFrame } from '../../input-frame.ts';
import { HORIZONS } from '../../model.ts';
import { computeOutOfSampleFolds, EXPECTED_FOLDS, formatFoldNote } from '../out-of-sample.ts';
import { compareEras, ETF_START } from './eras.ts';
import { runLagMutants } from './lag-mutants.ts';
import { computeKnownFeatures, findFeatureDifferences, type PointInTimeFrame } from './point-in-time-audit.ts';
import { findSuspicions, formatContaminationVerdict } from './verdict.ts';
import type { Vintages } from './vintages.ts';

/** A history, the pipeline's features of it, and the data known on some of its days. */
export interface ContaminationSource {
  frame: InputFrame;
  features: FeatureTable;
  pointInTime: readonly PointInTimeFrame[];
  vintages: Vintages;
}

/** Tests for lookahead: skill by era and regime, features against those known at the time, and pipelines broken on purpose. */
export type ContaminationReport = ReturnType<typeof buildContaminationReport>;

/** Without folds the eras are empty. @throws OracleError INPUT_INVALID for an audited day missing from the history */
export function buildContaminationReport({ frame, features, pointInTime, vintages }: ContaminationSource) {
  const horizons = HORIZONS.map((horizon) => compareEras(horizon, computeOutOfSampleFolds({ closes: frame.close, features }, horizon)));
  const folds = Math.min(...horizons.map((one) => one.folds));
  const known = computeKnownFeatures(frame, pointInTime);
  const audit = { days: known.map(({ day }) => formatDay(day)), vintages, differences: findFeatureDifferences(features, known) };
  const mutants = runLagMutants(frame, known);
  const suspicions = findSuspicions(horizons);
  return {
    folds,
    expectedFolds: EXPECTED_FOLDS,
    note: formatFoldNote(folds, features),
    healthy: audit.differences.length === 0 && mutants.every(({ applicable, caught }) => caught || !applicable),
    verdict: formatContaminationVerdict({ horizons, suspicions, pointInTime: audit, lagMutants: mutants }),
    splitDay: formatDay(ETF_START),
    horizons,
    suspicions,
    pointInTime: audit,
    lagMutants: mutants,
  };
}
