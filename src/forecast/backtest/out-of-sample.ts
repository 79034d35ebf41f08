import { orElse } from '../../errors.ts';
import { type Day, formatDay } from '../day.ts';
import { cdf, computeSortedQuantiles, crps, type PredictiveDistribution } from '../distribution.ts';
import { type ComputedFeatures, computeFeatures } from '../features.ts';
import { type BlockFit, type TrainingSource, walkForward } from '../fit.ts';
import { type FeatureTable, type InputFrame, MIN_HISTORY_DAYS } from '../inputs.ts';
import { computeCorrelation, meanBy, SortedColumn, shareOf } from '../math.ts';
import {
  BLOCK_DAYS,
  formatHorizonName,
  HORIZONS,
  type HorizonDays,
  type HorizonModel,
  LEARNING_RULES,
  type LearningRules,
  RESIDUAL_DAYS,
} from '../model.ts';
import { MODEL_VERSIONS, type ModelVersion } from '../models.ts';
import { classifyRegimes, type Regime } from '../regime.ts';
import { computeCoreForecast, type Signal, toDirection } from '../signal.ts';
import { computeSkill } from '../statistics.ts';

/** Folds of 180 days since 2017-04-03 in the whole history (interface, section 4.1); later ones are added as they end. */
export const EXPECTED_FOLDS = 19;
/** Versions after the first were chosen on the folds before these, which were looked at once. */
export const LAST_LOOK_FOLDS = { from: 15, to: 19 } as const;
/** Horizons that are sold; the one-day forecast is for the scorecard only. */
export const JUDGED_HORIZONS = [2, 3, 7] as const satisfies readonly HorizonDays[];

/** Closes and features of the same rows. */
export interface BacktestHistory {
  closes: Float64Array;
  features: FeatureTable;
}

export type OutOfSampleDay = ReturnType<typeof buildOutOfSampleDay>;

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

/** A forecast by a model fitted before that day, with its outcome: a `ScoredForecast`. */
function buildOutOfSampleDay(
  { closes, features, regimes, returns, forecast }: HistoryRows,
  row: number,
  { model, fold, climatology, recent }: Record<'climatology' | 'recent', PredictiveDistribution> & { model: HorizonModel; fold: number },
) {
  const { horizonDays, baseRate } = model;
  const { pUp, regime, signal, distribution } = forecast({ model, features, regimes, row });
  const realised = returns[row];
  return {
    day: features.firstDay + row,
    row,
    /** From 1. */
    fold,
    regime,
    signal,
    call: signal === 'HOLD' ? null : toDirection(pUp),
    rose: closes[row + horizonDays] > closes[row],
    pUp,
    climatology: baseRate,
    /** Log return from the close of the day to that `horizonDays` later. */
    realised,
    predictive: distribution,
    distribution: { crps: crps(distribution, realised), pit: cdf(distribution, realised) },
    /** Of the unconditional returns of all training days: the reference of the distribution. */
    climatologyCrps: crps(climatology, realised),
    /** Of the last `RECENT_RETURN_DAYS` training days, which shape the distribution: the harder reference. */
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

/** A day to forecast within a history that may continue past it. */
export interface HistoryDay {
  model: HorizonModel;
  features: FeatureTable;
  /** Of every row of the features. */
  regimes: readonly Regime[];
  row: number;
}

export type HistoryForecast = CoreForecast & { regime: Regime };

/** The part of a forecast that does not depend on the price. */
type CoreForecast = ReturnType<typeof computeCoreForecast>;

/** The steps that a walk-forward tests: features, learning rules, fits and forecasts. */
export interface Pipeline {
  rules: LearningRules;
  /** `earlier` is the table of a prefix of the frame, reused for speed. */
  features(frame: InputFrame, earlier?: ComputedFeatures): FeatureTable;
  walk(source: TrainingSource & { lastBlock?: number }): BlockFit[];
  forecast(day: HistoryDay): HistoryForecast;
  /** The first is the one of `walk` and `forecast`, which the others are compared with. */
  versions: readonly ModelVersion[];
}

/** The pipeline of the service; canaries also run pipelines broken on purpose. */
export const PIPELINE: Pipeline = {
  rules: LEARNING_RULES,
  features: computeFeatures,
  walk: walkForward,
  forecast: ({ model, features, regimes, row }) => {
    const regime = regimes[row];
    return { regime, ...computeCoreForecast({ model, features, index: row, regime }) };
  },
  versions: MODEL_VERSIONS,
};

/**
 * Skill 1 - ours / theirs of one daily score against another, above zero ours is better, with both mean scores, where lower is better; null
 * where the other was never wrong.
 */
export function computeReferenceSkill(days: readonly { day: Day; ours: number; theirs: number }[]) {
  const oursOf = ({ ours }: { ours: number }) => ours;
  const found = computeSkill(days, oursOf, ({ theirs }) => theirs);
  if (found === null) return null;
  const { value, low, high, brier: theirs } = found;
  return { value, low, high, ours: meanBy(days, oursOf), theirs };
}

export type HorizonAgreement = ReturnType<typeof computeAgreement>;

/**
 * The shorter horizons against the longest; empty for a history without a complete fold.
 * @throws OracleError INPUT_INVALID when closes and features differ in length or prices never move
 */
export function compareHorizons(history: BacktestHistory): HorizonAgreement[] {
  const days = HORIZONS.map((horizonDays) => ({
    horizonDays,
    forecasts: computeOutOfSampleFolds(history, horizonDays).flatMap((fold) => fold.days),
  }));
  const longest = days[days.length - 1];
  return days.slice(0, -1).flatMap(({ horizonDays, forecasts }) => {
    const byDay = new Map(longest.forecasts.map((one) => [one.day, one]));
    const pairs = forecasts.flatMap((one): Pair[] => (byDay.has(one.day) ? [[one, byDay.get(one.day)!]] : []));
    return pairs.length === 0 ? [] : [computeAgreement(pairs, [horizonDays, longest.horizonDays])];
  });
}

type Pair = readonly [shorter: OutOfSampleDay, longest: OutOfSampleDay];

/** How well a shorter horizon's out-of-sample forecast predicts that of the longest on the same day. Shares 0 to 1. */
function computeAgreement(pairs: readonly Pair[], [shorter, longest]: readonly [HorizonDays, HorizonDays]) {
  return {
    horizon: formatHorizonName(shorter),
    longest: formatHorizonName(longest),
    n: pairs.length,
    sameDirection: shareOf(pairs, ([a, b]) => toDirection(a.pUp) === toDirection(b.pUp)),
    sameSignal: shareOf(pairs, ([a, b]) => a.signal === b.signal),
    /** Share of the longest horizon's most frequent direction and signal: the hit rate of a guess without the shorter forecast. */
    mostFrequentDirection: computeModalShare(pairs, ([, { pUp }]) => toDirection(pUp)),
    mostFrequentSignal: computeModalShare(pairs, ([, { signal }]): Signal => signal),
    /** Of both P(up), -1 to 1; null where one is constant. */
    correlation: computeCorrelation(pairs.map(([a, b]) => [a.pUp, b.pUp])),
  };
}

function computeModalShare(pairs: readonly Pair[], of: (pair: Pair) => string): number {
  const counts = [...Map.groupBy(pairs, of).values()].map(({ length }) => length);
  return Math.max(...counts) / pairs.length;
}
