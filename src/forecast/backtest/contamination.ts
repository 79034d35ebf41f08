import { formatDay } from '../day.ts';
import type { FeatureTable } from '../features.ts';
import type { InputFrame } from '../frame.ts';
import { HORIZONS } from '../model.ts';
import { ETF_START, type HorizonEras, horizonEras } from './contamination/eras.ts';
import { type LagMutant, lagMutants } from './contamination/lag-mutants.ts';
import { differencesFrom, type FeatureDifference, knownFeatures, type PointInTime } from './contamination/point-in-time-audit.ts';
import type { Vintages } from './contamination/vintages.ts';
import { contaminationVerdict, type Suspicion, suspicionsOf } from './contamination/words.ts';
import { foldNote } from './fold-note.ts';
import { EXPECTED_FOLDS, outOfSample } from './out-of-sample.ts';

/** A history, the features that the pipeline made of it, and what was known on some of its days. */
export interface ContaminationSource {
  frame: InputFrame;
  features: FeatureTable;
  pointInTime: readonly PointInTime[];
  /** Where that comes from. */
  vintages: Vintages;
}

/** Whether the past knows of its future: skill by era and regime, features against what was known then, and pipelines broken on purpose. */
export interface ContaminationReport {
  folds: number;
  expectedFolds: number;
  note: string | null;
  /** False as soon as a feature differs from what was known, or a broken pipeline is not noticed. */
  healthy: boolean;
  verdict: string;
  /** First day of the later era. */
  splitDay: string;
  horizons: HorizonEras[];
  suspicions: Suspicion[];
  pointInTime: { days: string[]; vintages: Vintages; differences: FeatureDifference[] };
  lagMutants: LagMutant[];
}

/**
 * The report of a history; without folds its eras are empty, without audited days its mutants do not apply.
 * @throws OracleError INPUT_INVALID for an audited day that the history does not have
 */
export function contaminationReport({ frame, features, pointInTime, vintages }: ContaminationSource): ContaminationReport {
  const horizons = HORIZONS.map((horizon) => horizonEras(horizon, outOfSample({ closes: frame.close, features }, horizon)));
  const folds = Math.min(...horizons.map((one) => one.folds));
  const known = knownFeatures(frame, pointInTime);
  const audit = { days: known.map(({ day }) => formatDay(day)), vintages, differences: differencesFrom(features, known) };
  const mutants = lagMutants(frame, known);
  const suspicions = suspicionsOf(horizons);
  return {
    folds,
    expectedFolds: EXPECTED_FOLDS,
    note: foldNote(folds, features),
    healthy: audit.differences.length === 0 && mutants.every(({ applicable, caught }) => caught || !applicable),
    verdict: contaminationVerdict({ horizons, suspicions, pointInTime: audit, lagMutants: mutants }),
    splitDay: formatDay(ETF_START),
    horizons,
    suspicions,
    pointInTime: audit,
    lagMutants: mutants,
  };
}
