import { orElse } from '../../platform/errors.ts';
import { type Day, formatDay } from '../day.ts';
import { cdf, computeSortedQuantiles, crps, type PredictiveDistribution } from '../distribution.ts';
import type { FeatureTable } from '../features/feature-table.ts';
import type { TrainingSource } from '../fit/training-data.ts';
import { type BlockFit, walkForward } from '../fit/walk-forward.ts';
import { MIN_HISTORY_DAYS } from '../input-frame.ts';
import { SortedColumn } from '../math/sorted-column.ts';
import { BLOCK_DAYS, type HorizonDays, type HorizonModel, RESIDUAL_DAYS } from '../model.ts';
import { classifyRegimes, type Regime } from '../regime/regime.ts';
import { type Signal, toDirection } from '../signal.ts';
import type { ScoredForecast } from '../statistics/scored-forecast.ts';
import { PIPELINE, type Pipeline } from './pipeline.ts';

/** Folds of 180 days since 2017-04-03 in the whole history (interface, section 4.1); later ones are added as they end. */
export const EXPECTED_FOLDS = 19;
/** Horizons that are sold; the one-day forecast is for the scorecard only. */
export const JUDGED_HORIZONS = [2, 3, 7] as const satisfies readonly HorizonDays[];

/** Closes and features of the same rows. */
export interface BacktestHistory {
  closes: Float64Array;
  features: FeatureTable;
}

/** A forecast by a model fitted before that day, with its outcome. */
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
  /** CRPS of the unconditional returns of all training days: the reference of the distribution. */
  climatologyCrps: number;
  /** CRPS of the last `RECENT_RETURN_DAYS` training days, which shape the distribution: the harder reference. */
  recentCrps: number;
}

/** A complete block, forecast by the model fitted before it. */
export interface Fold {
  /** From 1; block 0 is fold 1. */
  fold: number;
  model: HorizonModel;
  /** Unconditional distribution of the returns of all training days. */
  climatology: PredictiveDistribution;
  days: OutOfSampleDay[];
}

/** Training days of the second reference: those of the model's own residuals. */
export const RECENT_RETURN_DAYS = RESIDUAL_DAYS;

/**
 * Every complete fold of the history, those with all outcomes known; empty where the history is too short.
 * @throws OracleError INPUT_INVALID when closes and features differ in length or prices never move
 */
export function computeOutOfSampleFolds(history: BacktestHistory, horizon: HorizonDays): Fold[] {
  return buildFolds(history, fitBlocks({ ...history, horizon }));
}

/** The fits of all blocks of a history; none where it is too short. */
export function fitBlocks(source: TrainingSource, walk: typeof walkForward = walkForward): BlockFit[] {
  try {
    return walk(source);
  } catch (error) {
    return orElse<BlockFit[]>('HISTORY_TOO_SHORT', [])(error);
  }
}

export function buildFolds(
  { closes, features }: BacktestHistory,
  blocks: readonly BlockFit[],
  { forecast }: Pick<Pipeline, 'forecast'> = PIPELINE,
): Fold[] {
  const complete = selectCompleteBlocks(blocks, closes.length);
  if (complete.length === 0) return [];
  const returns = computeLogReturns(closes, complete[0].model.horizonDays);
  const rows = { closes, features, regimes: classifyRegimes(features), returns, sortedReturns: new SortedColumn(returns), forecast };
  return complete.map((block) => buildFold(rows, block));
}

/** Blocks from the first fold on whose days and outcomes lie within a history of `rows` rows. */
export function selectCompleteBlocks(blocks: readonly BlockFit[], rows: number): BlockFit[] {
  return blocks.filter(({ model, from, to }) => model.block >= 0 && to - from === BLOCK_DAYS && to + model.horizonDays <= rows);
}

interface HistoryRows extends BacktestHistory, Pick<Pipeline, 'forecast'> {
  regimes: readonly Regime[];
  /** Log returns of the blocks' horizon, NaN where unknown. */
  returns: Float64Array;
  sortedReturns: SortedColumn;
}

function buildFold(rows: HistoryRows, { model, from, to }: BlockFit): Fold {
  const fold = model.block + 1;
  const climatology = buildReturnDistribution(rows, model, model.trainFrom);
  const recent = buildReturnDistribution(rows, model, Math.max(model.trainFrom, model.trainTo + 1 - RECENT_RETURN_DAYS));
  const input = { model, fold, climatology, recent };
  const days = Array.from({ length: to - from }, (_, index) => buildOutOfSampleDay(rows, from + index, input));
  return { fold, model, climatology, days };
}

/** Empirical distribution of the returns of the training days from `first` on. */
function buildReturnDistribution({ features: { firstDay }, sortedReturns }: HistoryRows, { trainTo }: HorizonModel, first: Day) {
  const returns = sortedReturns.valuesBetween(first - firstDay, trainTo + 1 - firstDay);
  return { scale: 1, shift: 0, residualQuantiles: computeSortedQuantiles(returns) };
}

function buildOutOfSampleDay(
  { closes, features, regimes, returns, forecast }: HistoryRows,
  row: number,
  { model, fold, climatology, recent }: Omit<Fold, 'days'> & { recent: PredictiveDistribution },
): OutOfSampleDay {
  const { horizonDays, baseRate } = model;
  const { pUp, regime, signal, distribution } = forecast({ model, features, regimes, row });
  const realised = returns[row];
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

function computeLogReturns(closes: Float64Array, horizonDays: number): Float64Array {
  const returns = new Float64Array(closes.length).fill(Number.NaN);
  for (let row = 0; row + horizonDays < closes.length; row++) returns[row] = computeLogReturn(closes, row, horizonDays);
  return returns;
}

export function computeLogReturn(closes: Float64Array, row: number, horizonDays: number): number {
  return Math.log(closes[row + horizonDays] / closes[row]);
}

export function isDirectionRight({ pUp, rose }: Pick<OutOfSampleDay, 'pUp' | 'rose'>): boolean {
  return (toDirection(pUp) === 'UP') === rose;
}

/** Notes how many folds there are and from which history, where there are fewer than expected; null otherwise. */
export function formatFoldNote(folds: number, { firstDay, length }: Pick<FeatureTable, 'firstDay' | 'length'>): string | null {
  if (folds >= EXPECTED_FOLDS) return null;
  const span = `${formatDay(firstDay)} to ${formatDay(firstDay + length - 1)}`;
  return `${folds} of ${EXPECTED_FOLDS} folds: the history runs from ${span} (scores begin on its day ${MIN_HISTORY_DAYS})`;
}
