import { formatDay } from '../../day.ts';
import { MIN_TRAINING_DAYS } from '../../fit/walk-forward.ts';
import { type InputFrame, MIN_HISTORY_DAYS } from '../../input-frame.ts';
import { BOOTSTRAP_SEED, chooseBlockDays, RESAMPLES } from '../../math/block-bootstrap.ts';
import {
  BLOCK_DAYS,
  EMBARGO_DAYS,
  formatHorizonName,
  HORIZONS,
  type HorizonDays,
  type HorizonName,
  MODEL_NAME,
  TRAINING_START,
} from '../../model.ts';
import { areCanariesHealthy } from '../canaries/canary.ts';
import { runCanaries } from '../canaries/run-canaries.ts';
import { type BacktestHistory, buildFolds, EXPECTED_FOLDS, type Fold, fitBlocks, formatFoldNote } from '../out-of-sample.ts';
import { PIPELINE, type Pipeline } from '../pipeline.ts';
import { buildFoldReport, type FoldReport } from './fold-report.ts';
import { buildPooledReport, type PooledReport } from './pooled-report.ts';
import { formatHorizonVerdict, formatLeakVerdict } from './verdict.ts';
import { buildVersionReports, walkVersions } from './versions.ts';

export type WalkForwardSource = BacktestHistory & { frame: InputFrame };
/** The walk-forward of all horizons with its leak canaries. Days as `YYYY-MM-DD`. */
export type WalkForwardReport = ReturnType<typeof buildWalkForwardReport>;

export interface HorizonWalkForward {
  horizonDays: HorizonDays;
  horizon: HorizonName;
  /** Days before the embargo whose outcomes are unknown at training time: the length of the window. */
  purgeDays: number;
  folds: FoldReport[];
  /** Null without a complete fold. */
  pooled: PooledReport | null;
  verdict: string;
}

/**
 * Walk-forward of every horizon, and the leak canaries that check it. Deterministic; a history too short for a fold gives empty tables
 * and a note. `features` are the pipeline's features of `frame`.
 * @throws OracleError INPUT_INVALID when closes and features differ in length or prices never move
 */
export function buildWalkForwardReport(source: WalkForwardSource, pipeline: Pipeline = PIPELINE) {
  const { closes, features, frame } = source;
  const history = { closes, features };
  const walks = HORIZONS.map((horizonDays) => {
    const blocks = fitBlocks({ ...history, horizon: horizonDays, rules: pipeline.rules }, pipeline.walk);
    return { horizonDays, blocks, folds: buildFolds(history, blocks, pipeline) };
  });
  const versions = walkVersions(pipeline, walks, history);
  const canaries = runCanaries({ ...history, frame }, { walks, versions }, pipeline);
  return {
    ...buildReportHead(history, Math.min(...walks.map(({ folds }) => folds.length))),
    healthy: areCanariesHealthy(canaries),
    verdict: formatLeakVerdict(canaries),
    horizons: walks.map(({ horizonDays, folds }) => buildHorizonReport(history, horizonDays, folds)),
    versions: buildVersionReports(versions),
    canaries,
  };
}

function buildHorizonReport(history: BacktestHistory, horizonDays: HorizonDays, folds: readonly Fold[]): HorizonWalkForward {
  const pooled = buildPooledReport(history, folds, horizonDays);
  return {
    horizonDays,
    horizon: formatHorizonName(horizonDays),
    purgeDays: horizonDays,
    folds: folds.map(buildFoldReport),
    pooled,
    verdict: formatHorizonVerdict(pooled),
  };
}

function buildReportHead({ features }: BacktestHistory, folds: number) {
  const note = formatFoldNote(folds, features);
  const need = `a fold requires ${MIN_TRAINING_DAYS} training days, the embargo, ${BLOCK_DAYS} days and all their outcomes`;
  return {
    model: MODEL_NAME,
    firstDay: formatDay(features.firstDay),
    lastDay: formatDay(features.firstDay + features.length - 1),
    trainingStart: formatDay(Math.max(TRAINING_START, features.firstDay + MIN_HISTORY_DAYS - 1)),
    minTrainingDays: MIN_TRAINING_DAYS,
    foldDays: BLOCK_DAYS,
    embargoDays: EMBARGO_DAYS,
    bootstrap: { blockDays: chooseBlockDays(folds * BLOCK_DAYS), resamples: RESAMPLES, seed: BOOTSTRAP_SEED },
    folds,
    expectedFolds: EXPECTED_FOLDS,
    note: note && `${note}; ${need}`,
  };
}
