import { isOracleError } from '../../platform/errors.ts';
import type { Day } from '../day.ts';
import { cdf, computeResidualQuantiles, crps, type PredictiveDistribution } from '../distribution.ts';
import type { FeatureTable } from '../features/feature-table.ts';
import type { TrainingSource } from '../fit/training-data.ts';
import { type BlockFit, RESIDUAL_DAYS, walkForward } from '../fit/walk-forward.ts';
import { BLOCK_DAYS, type HorizonDays, type HorizonModel } from '../model.ts';
import { classifyRegimes, type Regime } from '../regime/regime.ts';
import { type Signal, toDirection } from '../signal.ts';
import type { ScoredForecast } from '../statistics/scored-forecast.ts';
import { PIPELINE, type Pipeline } from './pipeline.ts';

/** Folds of 180 days since 2017-04-03 that the whole history gives (interface, section 4.1); later ones are added as they end. */
export const EXPECTED_FOLDS = 19;

/** History as a backtest reads it, row by row. */
export interface BacktestHistory {
  closes: Float64Array;
  features: FeatureTable;
}

/** One day that was forecast by a model which had not seen it, with what came of it. */
export interface OutOfSampleDay extends ScoredForecast {
  row: number;
  /** From 1. */
  fold: number;
  regime: Regime;
  signal: Signal;
  climatology: number;
  /** Log return from the close of the day to that `horizonDays` later. */
  realised: number;
  predictive: PredictiveDistribution;
  distribution: { crps: number; pit: number };
  /** CRPS of what the returns of all training days looked like, unconditionally: the reference of the distribution. */
  climatologyCrps: number;
  /** The same of the last training days alone, those that the distribution has its shape from: the harder reference. */
  recentCrps: number;
}

/** One complete block, forecast by the model that was fitted before it. */
export interface Fold {
  /** From 1; block 0 is fold 1. */
  fold: number;
  model: HorizonModel;
  /** What is expected where nothing is known of the day: the returns of all training days, as they were. */
  climatology: PredictiveDistribution;
  /** As many as a block has. */
  days: OutOfSampleDay[];
}

/** Training days of the second reference: as many as the model's own residuals come from. */
export const RECENT_RETURN_DAYS = RESIDUAL_DAYS;

/**
 * What the model said of every day of every complete fold of the history, and what came of it: a fold counts once the outcomes of all
 * its days are known. Empty where the history is too short for any.
 * @throws OracleError INPUT_INVALID when closes and features differ in length or prices never move
 */
export function computeOutOfSampleFolds(history: BacktestHistory, horizon: HorizonDays): Fold[] {
  return buildFolds(history, fitBlocks({ ...history, horizon }));
}

/** The fits of all blocks of a history, of which each has forecast its own block; none where the history is too short for any. */
export function fitBlocks(source: TrainingSource, walk: typeof walkForward = walkForward): BlockFit[] {
  try {
    return walk(source);
  } catch (error) {
    if (isOracleError(error, 'HISTORY_TOO_SHORT')) return [];
    throw error;
  }
}

/** The complete folds among the blocks of one horizon. */
export function buildFolds(
  { closes, features }: BacktestHistory,
  blocks: readonly BlockFit[],
  { forecast }: Pick<Pipeline, 'forecast'> = PIPELINE,
): Fold[] {
  const rows = { closes, features, regimes: classifyRegimes(features), forecast };
  return selectCompleteBlocks(blocks, closes.length).map((block) => buildFold(rows, block));
}

/** Blocks from the first fold on of which all days and their outcomes lie within a history of so many rows. */
export function selectCompleteBlocks(blocks: readonly BlockFit[], rows: number): BlockFit[] {
  return blocks.filter(({ model, from, to }) => model.block >= 0 && to - from === BLOCK_DAYS && to + model.horizonDays <= rows);
}

interface HistoryRows extends BacktestHistory, Pick<Pipeline, 'forecast'> {
  regimes: readonly Regime[];
}

function buildFold(rows: HistoryRows, { model, from, to }: BlockFit): Fold {
  const fold = model.block + 1;
  const climatology = buildReturnDistribution(rows, model, model.trainFrom);
  const recent = buildReturnDistribution(rows, model, Math.max(model.trainFrom, model.trainTo + 1 - RECENT_RETURN_DAYS));
  const days = Array.from({ length: to - from }, (_, index) =>
    buildOutOfSampleDay(rows, { model, fold, climatology, recent, row: from + index }),
  );
  return { fold, model, climatology, days };
}

/** The returns of the training days from `first` on, as they were. */
function buildReturnDistribution(
  { closes, features }: BacktestHistory,
  { trainTo, horizonDays }: HorizonModel,
  first: Day,
): PredictiveDistribution {
  const from = first - features.firstDay;
  const returns = Float64Array.from({ length: trainTo - first + 1 }, (_, index) => computeLogReturn(closes, from + index, horizonDays));
  return { scale: 1, shift: 0, residualQuantiles: computeResidualQuantiles(returns) };
}

interface FoldDayInput {
  model: HorizonModel;
  fold: number;
  climatology: PredictiveDistribution;
  recent: PredictiveDistribution;
  row: number;
}

function buildOutOfSampleDay(
  { closes, features, regimes, forecast }: HistoryRows,
  { model, fold, climatology, recent, row }: FoldDayInput,
): OutOfSampleDay {
  const { horizonDays, baseRate } = model;
  const { pUp, regime, signal, distribution } = forecast({ model, features, regimes, row });
  const realised = computeLogReturn(closes, row, horizonDays);
  return {
    day: features.firstDay + row,
    row,
    fold,
    regime,
    signal,
    call: signal === 'HOLD' ? null : toDirection(pUp),
    rose: closes[row + horizonDays] > closes[row],
    pUp,
    climatology: baseRate,
    realised,
    predictive: distribution,
    distribution: { crps: crps(distribution, realised), pit: cdf(distribution, realised) },
    climatologyCrps: crps(climatology, realised),
    recentCrps: crps(recent, realised),
  };
}

/** Log return from the close of a row to that `horizonDays` later. */
export function computeLogReturn(closes: Float64Array, row: number, horizonDays: number): number {
  return Math.log(closes[row + horizonDays] / closes[row]);
}
