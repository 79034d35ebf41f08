import { isOracleError } from '../../errors.ts';
import { cdf, crps, distributionOf, type PredictiveDistribution, residualQuantilesOf, scaleOf } from '../distribution.ts';
import type { FeatureTable } from '../features.ts';
import type { TrainingSource } from '../fit/training-data.ts';
import { type BlockFit, walkForward } from '../fit.ts';
import { BLOCK_DAYS, type HorizonDays, type HorizonModel } from '../model.ts';
import { classifyRegimes, REGIMES, type Regime } from '../regime.ts';
import { directionOf, type Signal, signalOf } from '../signal.ts';
import type { ScoredForecast } from '../statistics/scored-forecast.ts';

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
  distribution: { crps: number; pit: number };
  /** CRPS of what the training days' returns looked like, unconditionally: the reference of the distribution. */
  climatologyCrps: number;
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

/**
 * What the model said of every day of every complete fold of the history, and what came of it: a fold counts once the outcomes of all
 * its days are known. Empty where the history is too short for any.
 * @throws OracleError INPUT_INVALID when closes and features differ in length or prices never move
 */
export function outOfSample(history: BacktestHistory, horizon: HorizonDays): Fold[] {
  return foldsOf(history, blocksOf({ ...history, horizon }));
}

/** The fits of all blocks of a history, of which each has forecast its own block; none where the history is too short for any. */
export function blocksOf(source: TrainingSource, walk: typeof walkForward = walkForward): BlockFit[] {
  try {
    return walk(source);
  } catch (error) {
    if (isOracleError(error, 'HISTORY_TOO_SHORT')) return [];
    throw error;
  }
}

/** The complete folds among the blocks of one horizon. */
export function foldsOf({ closes, features }: BacktestHistory, blocks: readonly BlockFit[]): Fold[] {
  const regimes = classifyRegimes(features);
  return completeBlocks(blocks, closes.length).map((block) => foldOf({ closes, features, regimes }, block));
}

/** Blocks from the first fold on of which all days and their outcomes lie within a history of so many rows. */
export function completeBlocks(blocks: readonly BlockFit[], rows: number): BlockFit[] {
  return blocks.filter(({ model, from, to }) => model.block >= 0 && to - from === BLOCK_DAYS && to + model.horizonDays <= rows);
}

interface Rows extends BacktestHistory {
  regimes: readonly Regime[];
}

function foldOf(rows: Rows, fit: BlockFit): Fold {
  const fold = fit.model.block + 1;
  const climatology = climatologyDistribution(rows, fit.model);
  const days = Array.from(fit.pUp, (pUp, index) => dayOf(rows, { fit, fold, climatology, row: fit.from + index, pUp }));
  return { fold, model: fit.model, climatology, days };
}

function climatologyDistribution({ closes, features }: BacktestHistory, model: HorizonModel): PredictiveDistribution {
  const { trainFrom, trainTo, horizonDays } = model;
  const from = trainFrom - features.firstDay;
  const returns = Float64Array.from({ length: trainTo - trainFrom + 1 }, (_, index) => returnAt(closes, from + index, horizonDays));
  return { scale: 1, shift: 0, residualQuantiles: residualQuantilesOf(returns) };
}

interface DayOfFold {
  fit: BlockFit;
  fold: number;
  climatology: PredictiveDistribution;
  row: number;
  pUp: number;
}

function dayOf({ closes, features, regimes }: Rows, { fit: { model }, fold, climatology, row, pUp }: DayOfFold): OutOfSampleDay {
  const { horizonDays, residualQuantiles, baseRate } = model;
  const realised = returnAt(closes, row, horizonDays);
  const scale = scaleOf(features.v94[row], features.v99[row], horizonDays);
  const distribution = distributionOf({ residualQuantiles, scale, pUp });
  const regime = regimes[row];
  const signal = signalOf(pUp, REGIMES[regime].theta);
  return {
    day: features.firstDay + row,
    row,
    fold,
    regime,
    signal,
    call: signal === 'HOLD' ? null : directionOf(pUp),
    rose: closes[row + horizonDays] > closes[row],
    pUp,
    climatology: baseRate,
    realised,
    distribution: { crps: crps(distribution, realised), pit: cdf(distribution, realised) },
    climatologyCrps: crps(climatology, realised),
  };
}

/** Log return from the close of a row to that `horizonDays` later. */
export function returnAt(closes: Float64Array, row: number, horizonDays: number): number {
  return Math.log(closes[row + horizonDays] / closes[row]);
}
