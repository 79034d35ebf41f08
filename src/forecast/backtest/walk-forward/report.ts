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
import { areCanariesHealthy, type Canary } from '../canaries/canary.ts';
import { runCanaries } from '../canaries/run-canaries.ts';
import { formatFoldNote } from '../fold-note.ts';
import { type BacktestHistory, buildFolds, EXPECTED_FOLDS, type Fold, fitBlocks } from '../out-of-sample.ts';
import { PIPELINE, type Pipeline } from '../pipeline.ts';
import { buildFoldReport, type FoldReport } from './fold-report.ts';
import { buildPooledReport, type PooledReport } from './pooled-report.ts';
import { formatHorizonVerdict, formatLeakVerdict } from './verdict.ts';

/** A history and the frame that its features were made of. */
export type WalkForwardSource = BacktestHistory & { frame: InputFrame };

/** The walk-forward of all horizons, and whether it can be believed. Days as `YYYY-MM-DD`. */
export interface WalkForwardReport {
  /** Name of the method. */
  model: string;
  /** First and last day of the history. */
  firstDay: string;
  lastDay: string;
  /** First day that is learned from. */
  trainingStart: string;
  /** Fewest days that a model learns from. */
  minTrainingDays: number;
  /** Days of a fold. */
  foldDays: number;
  /** Days between the last price that a model may know and the first day of its fold. */
  embargoDays: number;
  /** How the intervals were made. */
  bootstrap: { blockDays: number; resamples: number; seed: number };
  /** Folds that are complete at every horizon, and how many the whole history gives. */
  folds: number;
  expectedFolds: number;
  /** Why there are fewer; null where there are not. */
  note: string | null;
  /** False as soon as a canary finds a leak, or misses one that was planted. */
  healthy: boolean;
  /** What the canaries amount to, in words. */
  verdict: string;
  horizons: HorizonWalkForward[];
  canaries: Canary[];
}

/** The walk-forward of one horizon. */
export interface HorizonWalkForward {
  horizonDays: HorizonDays;
  horizon: HorizonName;
  /** Days before the embargo whose outcomes are not known in time to be learned from: as long as the window. */
  purgeDays: number;
  folds: FoldReport[];
  /** Null without a complete fold. */
  pooled: PooledReport | null;
  verdict: string;
}

/**
 * Every block forecast by the model fitted before it, at every horizon, and the leak canaries that say whether that is so. Deterministic.
 * A history too short for a fold gives empty tables and says so. `features` are those that the pipeline makes of `frame`.
 * @throws OracleError INPUT_INVALID when closes and features differ in length or prices never move
 */
export function buildWalkForwardReport(source: WalkForwardSource, pipeline: Pipeline = PIPELINE): WalkForwardReport {
  const { closes, features, frame } = source;
  const history = { closes, features };
  const walks = HORIZONS.map((horizonDays) => {
    const blocks = fitBlocks({ ...history, horizon: horizonDays, rules: pipeline.rules }, pipeline.walk);
    return { horizonDays, blocks, folds: buildFolds(history, blocks, pipeline) };
  });
  const canaries = runCanaries({ ...history, frame }, walks, pipeline);
  return {
    ...buildReportHead(history, Math.min(...walks.map(({ folds }) => folds.length))),
    healthy: areCanariesHealthy(canaries),
    verdict: formatLeakVerdict(canaries),
    horizons: walks.map(({ horizonDays, folds }) => buildHorizonReport(horizonDays, folds)),
    canaries,
  };
}

function buildHorizonReport(horizonDays: HorizonDays, folds: readonly Fold[]): HorizonWalkForward {
  const pooled = buildPooledReport(folds, horizonDays);
  return {
    horizonDays,
    horizon: formatHorizonName(horizonDays),
    purgeDays: horizonDays,
    folds: folds.map(buildFoldReport),
    pooled,
    verdict: formatHorizonVerdict(pooled),
  };
}

function buildReportHead(history: BacktestHistory, folds: number) {
  const { features } = history;
  const firstDay = formatDay(features.firstDay);
  const lastDay = formatDay(features.firstDay + features.length - 1);
  return {
    model: MODEL_NAME,
    firstDay,
    lastDay,
    trainingStart: formatDay(Math.max(TRAINING_START, features.firstDay + MIN_HISTORY_DAYS - 1)),
    minTrainingDays: MIN_TRAINING_DAYS,
    foldDays: BLOCK_DAYS,
    embargoDays: EMBARGO_DAYS,
    bootstrap: { blockDays: chooseBlockDays(folds * BLOCK_DAYS), resamples: RESAMPLES, seed: BOOTSTRAP_SEED },
    folds,
    expectedFolds: EXPECTED_FOLDS,
    note: formatReportNote(folds, history),
  };
}

/** How many folds there are and what one takes, where there are fewer than the whole history gives. */
function formatReportNote(folds: number, { features }: BacktestHistory): string | null {
  const note = formatFoldNote(folds, features);
  return note === null
    ? null
    : `${note}, and a fold takes ${MIN_TRAINING_DAYS} days to learn from, an embargo, ${BLOCK_DAYS} days and the outcomes of all of them`;
}
