import { countEffective } from '../bootstrap.ts';
import { type Day, formatDay } from '../day.ts';
import { cdf, computeScale, crps } from '../distribution.ts';
import { type ComputedFeatures, computeParkinson, fillRangeVariance, squash } from '../features.ts';
import { type BlockFit, type Calibration, computeDeviation, fitCalibration, logit, type TrainingSource } from '../fit.ts';
import {
  BUSINESS_DAY_COLUMNS,
  countUntil,
  FEATURE_NAMES,
  type FeatureTable,
  getFrameLength,
  getLastDay,
  getOrInsert,
  type InputFrame,
  MIN_HISTORY_DAYS,
  sliceFrame,
} from '../inputs.ts';
import { shareOf } from '../math.ts';
import {
  EMBARGO_DAYS,
  getBlockStart,
  type HorizonDays,
  type HorizonModel,
  LEARNING_RULES,
  type LearningRules,
  MODEL_INPUTS,
} from '../model.ts';
import { classifyRegimes, type Regime } from '../regime.ts';
import { toDirection, toSignal } from '../signal.ts';
import {
  type BacktestHistory,
  computeLogReturn,
  type Fold,
  fitBlocks,
  type HistoryForecast,
  type OutOfSampleDay,
  type Pipeline,
} from './out-of-sample.ts';

const ACCURACY_LIMIT_TEXT: CanaryDescription = {
  name: 'accuracy-limit',
  what: 'Accuracy of the likelier direction on all out-of-sample days, at the horizon nearest to its limit or farthest beyond; a figure above the limit suggests a leak',
  unit: 'share of days right, 0 to 1',
};

/** Checks the accuracy against its limit; the mutant is a model that knows the window's return. */
export function runAccuracyLimitCanary(
  horizons: readonly { horizonDays: HorizonDays; days: readonly OutOfSampleDay[] }[],
  history: BacktestHistory,
  { walk, rules }: Pipeline,
): CanaryRun {
  const candidates = horizons.flatMap(({ days, horizonDays }) => {
    const limit = computeAccuracyLimit(days, horizonDays);
    if (limit === null) return [];
    return [{ days, horizonDays, limit, right: computeAccuracyBy(days, ({ pUp }) => toDirection(pUp) === 'UP') }];
  });
  const [worst] = candidates.sort((a, b) => b.right - b.limit - (a.right - a.limit));
  if (worst === undefined)
    return skippedCanary(ACCURACY_LIMIT_TEXT, 'there are too few out-of-sample days to distinguish a leak from luck');
  const { horizonDays: horizon, days, limit, right } = worst;
  const blocks = fitBlocks({ ...history, features: leakWindowReturn(history, horizon), horizon, rules }, walk);
  const pUpByRow = new Map(blocks.flatMap(({ from, pUp }) => Array.from(pUp, (p, index): [number, number] => [from + index, p])));
  const what = `a model of ${horizon} days that reads the return of the forecast window as momentum`;
  const leaked = computeAccuracyBy(days, ({ row }) => toDirection(pUpByRow.get(row)!) === 'UP');
  return completedCanary(ACCURACY_LIMIT_TEXT, { figure: right, limit, note: `at ${horizon} days`, mutants: [{ what, figure: leaked }] });
}

/** The table with the return of the forecast window as momentum, where known. */
function leakWindowReturn({ closes, features }: BacktestHistory, horizonDays: number): FeatureTable {
  const momentum = features.momentum.map((before, row) => {
    const known = squash(computeLogReturn(closes, row, horizonDays) / computeScale(features.v94[row], features.v99[row], horizonDays));
    return Number.isNaN(known) ? before : known;
  });
  return { ...features, momentum };
}

export const SUSPICIOUS_ACCURACY = 0.6;
/** Independent days on which three standard errors of a share of one half equal the ten points to `SUSPICIOUS_ACCURACY`. */
const MIN_EFFECTIVE_DAYS = (3 * 0.5 * 10) ** 2;

/**
 * Limit of one horizon's accuracy: 60 %, or the share of the more common direction plus one standard error if that is higher. Null with
 * too few days to distinguish a leak from luck.
 */
function computeAccuracyLimit(days: readonly OutOfSampleDay[], horizonDays: number): number | null {
  const effective = countEffective(days, horizonDays);
  if (effective < MIN_EFFECTIVE_DAYS) return null;
  const ups = computeAccuracyBy(days, () => true);
  return Math.max(SUSPICIOUS_ACCURACY, Math.max(ups, 1 - ups) + 0.5 / Math.sqrt(effective));
}

function computeAccuracyBy<T extends { rose: boolean }>(days: readonly T[], saysUp: (day: T) => boolean): number {
  return shareOf(days, (day) => saysUp(day) === day.rose);
}

export const CANARIES = [
  'repeated-label',
  'label-average',
  'training-cut',
  'calibration',
  'point-in-time',
  'forecast-cut',
  'move-cut',
  'accuracy-limit',
] as const;

export type CanaryName = (typeof CANARIES)[number];

/** The result of a test that fails on lookahead, with mutants that prove it can fail. */
export interface CanaryRun {
  name: CanaryName;
  what: string;
  unit: string;
  /** Of the pipeline under test; null if not run, like limit and passed. */
  figure: number | null;
  limit: number | null;
  passed: boolean | null;
  /** Origin of the figure, or why the canary was not run. */
  note: string;
  /** Runs on pipelines broken on purpose; empty if not run. */
  mutants: { what: string; figure: number; caught: boolean }[];
}

export interface Canary extends CanaryRun {
  /** Names of the model versions that it ran for. */
  versions: string[];
}

export type CanaryDescription = Pick<CanaryRun, 'name' | 'what' | 'unit'>;

export function completedCanary(
  text: CanaryDescription,
  measured: { figure: number; limit: number; note: string; mutants: { what: string; figure: number }[] },
): CanaryRun {
  const { figure, limit, mutants } = measured;
  const judged = mutants.map((mutant) => ({ ...mutant, caught: mutant.figure > limit }));
  return { ...text, ...measured, passed: figure <= limit, mutants: judged };
}

export function skippedCanary(text: CanaryDescription, why: string): CanaryRun {
  return { ...text, figure: null, limit: null, passed: null, note: `not run: ${why}`, mutants: [] };
}

const POINT_IN_TIME_TEXT: CanaryDescription = {
  name: 'point-in-time',
  what: 'Cuts every input at a date and recomputes the features: those of that date and before must be bit-identical',
  unit: 'values that differ',
};

const CUT_SHARES = [0.5, 0.8, 1];
/** Days before a cut that are searched for more observed series. */
const SEARCH_DAYS = 10;
const CENTRED_DAYS = 3;
type Features = Pipeline['features'];

/** Checks that features read nothing later than their day. `whole.features` are the pipeline's features of the frame. */
export function runPointInTimeCanary(whole: { frame: InputFrame; features: FeatureTable }, pipeline: Pipeline): CanaryRun {
  const { frame } = whole;
  if (getFrameLength(frame) <= MIN_HISTORY_DAYS) return skippedCanary(POINT_IN_TIME_TEXT, `the history has ${getFrameLength(frame)} days`);
  const days = CUT_SHARES.map((share) => chooseCutDay(frame, share));
  const cuts = days.map((day) => sliceFrame(frame, day));
  // Computed once of each frame for all mutants.
  const tables = new Map([[frame, whole.features]]);
  const features: Features = (given) => getOrInsert(tables, given, () => pipeline.features(given));
  const changed = (make: Features, cut: InputFrame) => countFeatureDifferences(make(cut), make(frame));
  const newest = cuts[cuts.length - 1];
  return completedCanary(POINT_IN_TIME_TEXT, {
    limit: 0,
    figure: cuts.reduce((sum, cut) => sum + changed(features, cut), 0),
    note: `cut at ${days.map(formatDay).join(', ')}`,
    mutants: buildMutants(features, whole, days[days.length - 1]).map(({ what, make }) => ({ what, figure: changed(make, newest) })),
  });
}

const FEATURE_OF_SERIES = { etfFlow: 'etf', sp500: 'spz', dxy: 'dxz' } as const;

function buildMutants(features: Features, whole: { frame: InputFrame; features: FeatureTable }, day: Day) {
  const rangeAhead = {
    what: "the variance from ranges reads the next day's high and low",
    make: (given: InputFrame) => readNextRange(features(given), given),
  };
  const centred = { what: 'the trend is a centred average', make: (given: InputFrame) => centredTrend(features(given)) };
  const row = day - whole.frame.firstDay;
  const { high, low } = whole.frame;
  const hasRangeAhead = computeParkinson(high[row + 1], low[row + 1]) !== null && Number.isFinite(whole.features.rangeVariance[row]);
  const always = hasRangeAhead ? [centred, rangeAhead] : [centred];
  // A missing lag shows only where a series was observed on the day and its feature is defined.
  if (!getSeriesObservedOn(whole.frame, day).some((name) => Number.isFinite(whole.features[FEATURE_OF_SERIES[name]][row]))) return always;
  const what = 'business-day series are read on their own date, before publication';
  return [{ what, make: (given: InputFrame) => features(readSameDay(given)) }, ...always];
}

/** Of the days before a share of the history, that with the most business-day observations. */
function chooseCutDay(frame: InputFrame, share: number): Day {
  const from = frame.firstDay + Math.round(share * (getFrameLength(frame) - 1));
  const latest = Math.min(from, getLastDay(frame) - 1);
  const candidates = Array.from({ length: SEARCH_DAYS }, (_, back) => latest - back);
  return candidates.reduce((best, day) => (getSeriesObservedOn(frame, day).length > getSeriesObservedOn(frame, best).length ? day : best));
}

function getSeriesObservedOn(frame: InputFrame, day: Day) {
  return BUSINESS_DAY_COLUMNS.filter((name) => frame[name].days[countUntil(frame[name].days, day) - 1] === day);
}

function countFeatureDifferences(cut: FeatureTable, whole: FeatureTable): number {
  let count = 0;
  for (const name of FEATURE_NAMES) {
    const column = cut[name];
    for (let row = 0; row < column.length; row++) if (!Object.is(column[row], whole[name][row])) count++;
  }
  return count;
}

function readSameDay(frame: InputFrame): InputFrame {
  const early = { ...frame };
  for (const name of BUSINESS_DAY_COLUMNS) early[name] = { ...frame[name], days: frame[name].days.map((day) => day - 1) };
  return early;
}

function centredTrend(table: FeatureTable): FeatureTable {
  const trend = table.trend.map((_, row) => {
    const around = table.trend.subarray(Math.max(0, row - CENTRED_DAYS), row + CENTRED_DAYS + 1);
    return around.reduce((sum, value) => sum + value, 0) / around.length;
  });
  return { ...table, trend };
}

function readNextRange(table: FeatureTable, frame: InputFrame): FeatureTable {
  const [high, low] = [frame.high, frame.low].map((column) => column.map((_, row) => column[row + 1] ?? Number.NaN));
  const early = { ...table, rangeVariance: new Float64Array(table.length) };
  fillRangeVariance({ ...frame, high, low }, early, 0);
  return early;
}

const FORECAST_CUT_TEXT: CanaryDescription = {
  name: 'forecast-cut',
  what: "Cuts every input at a day, recomputes features and regime, and forecasts with the fold's model: P(up), regime, signal, distribution and scores must be bit-identical to the fold",
  unit: 'values that differ',
};

export const NO_FOLD = 'there is no complete fold';

/** Checks on a few days of each fold that forecasts and scores read nothing later than the day. */
export function runForecastCutCanary(
  { whole, aheadDays, sample, rows, cuts }: ForecastCuts,
  { forecast }: Pick<Pipeline, 'forecast'>,
): CanaryRun {
  if (sample.length === 0) return skippedCanary(FORECAST_CUT_TEXT, NO_FOLD);
  const longest = sample.filter(({ fold }) => fold.model.horizonDays === aheadDays);
  const anyChange = longest.some(({ day }) => hasRegimeChangeAfter(day.row, whole.regimes, aheadDays));
  const differences = (days: readonly SampledDay[], valuesOf: (one: SampledDay) => ComparedValues, byCut: Pipeline['forecast']) =>
    days.reduce((sum, one) => sum + countDifferences(valuesOf(one), recomputeValues(one, cuts.get(one.day.row)!, byCut)), 0);
  return completedCanary(FORECAST_CUT_TEXT, {
    limit: 0,
    figure: differences(sample, foldValues, forecast),
    note: `${sample.length} forecasts of ${rows.length} days`,
    mutants: FORECAST_MUTANTS.filter(({ needsChange }) => anyChange || !needsChange).map(({ what, broken }) => ({
      what,
      figure: differences(longest, (one) => recomputeValues(one, whole, broken(forecast)), broken(forecast)),
    })),
  });
}

type ComparedValues = readonly (number | string)[];

function foldValues({ day: { pUp, regime, signal, predictive, distribution }, fitted }: SampledDay): ComparedValues {
  return [pUp, fitted, regime, signal, predictive.scale, predictive.shift, distribution.crps, distribution.pit];
}

/** The same values recomputed from a history; empty where the forecast needs later rows. */
function recomputeValues(
  { fold: { model }, day: { row, realised } }: SampledDay,
  known: KnownHistory,
  forecast: Pipeline['forecast'],
): ComparedValues {
  try {
    const { pUp, regime, signal, distribution } = forecast({ model, ...known, row });
    return [pUp, pUp, regime, signal, distribution.scale, distribution.shift, crps(distribution, realised), cdf(distribution, realised)];
  } catch {
    return [];
  }
}

export function countDifferences(whole: ComparedValues, cut: ComparedValues): number {
  return whole.filter((value, index) => !Object.is(value, cut[index])).length;
}

export interface KnownHistory {
  frame: InputFrame;
  features: FeatureTable;
  regimes: readonly Regime[];
}

interface SampledDay {
  fold: Fold;
  day: OutOfSampleDay;
  fitted: number;
}

export type ForecastCuts = ReturnType<typeof cutForecastDays>;

/** A few days of each fold, and the histories that were known on them. */
export function cutForecastDays(
  walks: readonly (HorizonBlocks & { folds: readonly Fold[] })[],
  { frame, features }: { frame: InputFrame; features: FeatureTable },
  { features: compute }: Pick<Pipeline, 'features'>,
) {
  const whole: KnownHistory = { frame, features, regimes: classifyRegimes(features) };
  // The longest horizon.
  const aheadDays = Math.max(...walks.map(({ horizonDays }) => horizonDays));
  const sample = walks.flatMap(({ folds, blocks }) =>
    folds.flatMap((fold): SampledDay[] => {
      const { from, pUp } = blocks.find(({ model }) => model.block === fold.model.block)!;
      return sampleFoldDays(fold, whole.regimes, aheadDays).map((day) => ({ fold, day, fitted: pUp[day.row - from] }));
    }),
  );
  const rows = [...new Set(sample.map(({ day }) => day.row))].sort((a, b) => a - b);
  // By row: the history that ends with its day.
  const cuts = new Map<number, KnownHistory>();
  let earlier: ComputedFeatures | undefined;
  for (const row of rows) {
    const cut = sliceFrame(frame, frame.firstDay + row);
    const table = compute(cut, earlier);
    cuts.set(row, { frame: cut, features: table, regimes: classifyRegimes(table) });
    earlier = { frame: cut, table };
  }
  return { whole, aheadDays, sample, rows, cuts };
}

/** First and last day, and the first before a lasting regime change, which reveals a regime read ahead; the same at every horizon. */
function sampleFoldDays({ days }: Pick<Fold, 'days'>, regimes: readonly Regime[], aheadDays: number): OutOfSampleDay[] {
  const beforeChange = days.find(({ row }) => hasRegimeChangeAfter(row, regimes, aheadDays));
  return [...new Set([days[0], ...(beforeChange === undefined ? [] : [beforeChange]), days[days.length - 1]])];
}

/** Whether the regime differs both the next day and `aheadDays` later. */
function hasRegimeChangeAfter(row: number, regimes: readonly Regime[], aheadDays: number): boolean {
  return [1, aheadDays].every((days) => row + days < regimes.length && regimes[row + days] !== regimes[row]);
}

const TEXT: CanaryDescription = {
  name: 'training-cut',
  what: `Replaces every close and score hidden from a block's model, from ${EMBARGO_DAYS} days before the block on, and fits again: coefficients, calibration, base rate and residual quantiles must be bit-identical`,
  unit: 'largest change of any fitted number',
};

export interface HorizonBlocks {
  horizonDays: HorizonDays;
  blocks: readonly BlockFit[];
}

/** Checks on a few blocks of each horizon that a fit reads nothing after its training period. */
export function runTrainingCutCanary(horizons: readonly HorizonBlocks[], history: BacktestHistory, pipeline: Pipeline): CanaryRun {
  const longest = horizons.at(-1);
  const first = longest?.blocks[0];
  if (longest === undefined || first === undefined) return skippedCanary(TEXT, 'the history is too short for any block');
  const { closes, features } = history;
  const source = { closes, features, horizon: longest.horizonDays };
  const fitted = horizons.flatMap(({ horizonDays: horizon, blocks }) => {
    // Fitting the last block fits all earlier ones, so only the longest horizon includes it.
    const sample = pickFirstMiddleLast(blocks).slice(0, horizon === longest.horizonDays ? undefined : 2);
    return sample.map(({ model }) => ({ model, source: { closes, features, horizon } }));
  });
  const changeBy = (rules: Pipeline['rules']) => {
    const broken = { ...pipeline, rules };
    return measureChange(fitLastModel(broken, source, first.model.block), source, broken);
  };
  return completedCanary(TEXT, {
    limit: 0,
    figure: Math.max(...fitted.map(({ model, source }) => measureChange(model, source, pipeline))),
    note: `${fitted.length} models: blocks ${[...new Set(fitted.map(({ model }) => model.modelVersion))].join(', ')}`,
    mutants: [
      {
        what: 'labels count as known before their windows are over',
        figure: changeBy({ ...LEARNING_RULES, lastKnownDay: (day) => day - 1 }),
      },
      { what: 'training continues until the block, without embargo', figure: changeBy({ ...LEARNING_RULES, embargoDays: 0 }) },
    ],
  });
}

/** Largest change of a model after the data hidden from it is replaced. */
function measureChange(model: HorizonModel, source: TrainingSource, pipeline: Pipeline): number {
  const again = fitLastModel(pipeline, maskFuture(source, model.block), model.block);
  return maxAbsoluteDifference(getLearnedNumbers(model), getLearnedNumbers(again));
}

function fitLastModel({ walk, rules }: Pipeline, source: TrainingSource, lastBlock: number): HorizonModel {
  return walk({ ...source, rules, lastBlock }).at(-1)!.model;
}

function getLearnedNumbers({ baseRate, calA, calB, beta, meanX, residualQuantiles }: HorizonModel): number[] {
  return [baseRate, calA, calB, ...beta, ...meanX, ...residualQuantiles];
}

/** Replaces closes past the last label and scores of days without one. The bounds do not use the rules under test. */
export function maskFuture(source: TrainingSource, block: number): TrainingSource {
  const { closes, features, horizon } = source;
  const firstClose = getBlockStart(block) - EMBARGO_DAYS - features.firstDay;
  const firstScore = firstClose - horizon;
  const replaced = { ...features };
  for (const name of MODEL_INPUTS)
    replaced[name] = features[name].map((score, row) => (row < firstScore ? score : -0.9 * Math.sign(score)));
  for (const name of ['v94', 'v99', 'rangeVariance'] as const)
    replaced[name] = features[name].map((value, row) => (row < firstScore ? value : 9 * value));
  return {
    ...source,
    closes: closes.map((close, row) => (row < firstClose ? close : close * (row % 2 === 0 ? 3 : 0.3))),
    features: replaced,
  };
}

export function pickFirstMiddleLast<T>(list: readonly T[]): T[] {
  const last = list.length - 1;
  return last < 0 ? [] : [...new Set([0, last >> 1, last])].map((index) => list[index]);
}

/** Largest absolute difference between two lists of equal length; finite even for NaN and Infinity. */
export function maxAbsoluteDifference(a: readonly number[], b: readonly number[]): number {
  return a.reduce((largest, value, index) => {
    const found = Object.is(value, b[index]) ? 0 : Math.abs(value - b[index]);
    return Math.max(largest, Number.isFinite(found) ? found : Number.MAX_VALUE);
  }, 0);
}

type Forecast = Pipeline['forecast'];

/** Forecasts that read the end of the window, as far as the history reaches. */
const FORECAST_MUTANTS: readonly { what: string; needsChange: boolean; broken: (forecast: Forecast) => Forecast }[] = [
  {
    what: 'the distribution has the volatility at the end of the window',
    needsChange: false,
    broken: withLookahead((forecastToday, later) => ({
      ...forecastToday,
      distribution: { ...forecastToday.distribution, scale: later.distribution.scale },
    })),
  },
  {
    what: 'regime and threshold are those at the end of the window',
    needsChange: true,
    broken: withLookahead((forecastToday, { regime, threshold }) => {
      return { ...forecastToday, regime, threshold, signal: toSignal(forecastToday.pUp, threshold) };
    }),
  },
  {
    what: 'P(up) is computed from the scores at the end of the window',
    needsChange: false,
    broken: withLookahead((forecastToday, { pUp }) => ({ ...forecastToday, pUp, signal: toSignal(pUp, forecastToday.threshold) })),
  },
];

function withLookahead(mix: (forecastToday: HistoryForecast, later: HistoryForecast) => HistoryForecast): (forecast: Forecast) => Forecast {
  return (forecast) => (day) => {
    const windowEnd = Math.min(day.row + day.model.horizonDays, day.features.length - 1);
    return mix(forecast(day), forecast({ ...day, row: windowEnd }));
  };
}

const CALIBRATION_TEXT: CanaryDescription = {
  name: 'calibration',
  what: "Calibrates again on earlier blocks' out-of-sample output alone, with outcomes known an embargo before the block: the calibration must be the same",
  unit: 'largest difference of shift and slope',
};

/** The solver stops within 1e-10 of the optimum. */
const MAX_DIFFERENCE = 1e-9;

/** Checks on a few blocks of each horizon that calibration reads only earlier blocks' out-of-sample output. */
export function runCalibrationCanary(horizons: readonly HorizonBlocks[], history: BacktestHistory): CanaryRun {
  const differences = horizons.flatMap(({ blocks }) =>
    pickFirstMiddleLast(blocks).map(({ model }) => calibrationDifference(model, recalibrateOnEarlierBlocks(history, blocks, model))),
  );
  // The outcomes of the last block may be unknown; those of the middle one are known.
  const [, middle] = pickFirstMiddleLast(horizons.at(-1)?.blocks ?? []);
  if (middle === undefined) return skippedCanary(CALIBRATION_TEXT, 'the history is too short for a block that has one before it');
  const { blocks } = horizons.at(-1)!;
  const { model } = middle;
  const { firstDay } = history.features;
  const right = recalibrateOnEarlierBlocks(history, blocks, model);
  const inSample = calibrateOn(history, [{ model, from: model.trainFrom - firstDay, to: model.trainTo + 1 - firstDay }]);
  const withOwnDays = calibrateOn(
    history,
    blocks.filter((earlier) => earlier.model.block <= model.block),
  );
  return completedCanary(CALIBRATION_TEXT, {
    limit: MAX_DIFFERENCE,
    figure: Math.max(...differences),
    note: `${differences.length} models`,
    mutants: [
      { what: "calibrated on the model's training days", figure: calibrationDifference(inSample, right) },
      { what: "calibrated on the block's own days too", figure: calibrationDifference(withOwnDays, right) },
    ],
  });
}

function calibrationDifference(a: Calibration, b: Calibration): number {
  return maxAbsoluteDifference([a.calA, a.calB], [b.calA, b.calB]);
}

function recalibrateOnEarlierBlocks(history: BacktestHistory, blocks: readonly BlockFit[], { block, horizonDays }: HorizonModel) {
  const to = getBlockStart(block) - EMBARGO_DAYS - horizonDays - history.features.firstDay;
  const earlier = blocks.filter(({ model }) => model.block < block).map((own) => ({ ...own, to: Math.min(own.to, to) }));
  return calibrateOn(history, earlier);
}

/** The calibration fitted to the models' forecasts of rows from (inclusive) to (exclusive). */
function calibrateOn({ closes, features }: BacktestHistory, blockRows: readonly Pick<BlockFit, 'model' | 'from' | 'to'>[]): Calibration {
  const rows = blockRows.flatMap(({ model, from, to }) =>
    Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ model, row: from + index })),
  );
  const horizonDays = blockRows[0]?.model.horizonDays ?? 1;
  return fitCalibration({
    deviations: Float64Array.from(rows, ({ model, row }) => computeDeviation(model, features, row)),
    offset: Float64Array.from(rows, ({ model }) => logit(model.baseRate)),
    labels: Float64Array.from(rows, ({ row }) => (closes[row + horizonDays] > closes[row] ? 1 : 0)),
    weights: new Float64Array(rows.length).fill(1 / horizonDays),
    from: 0,
    to: rows.length,
  });
}

const UNIT = 'share of days right, 0 to 1';

const REPEATED_LABEL: CanaryDescription = {
  name: 'repeated-label',
  what: 'Repeats each day the newest outcome that the training rule allows: without skill unless its window is still open',
  unit: UNIT,
};

const LABEL_AVERAGE: CanaryDescription = {
  name: 'label-average',
  what: 'Predicts the majority of the newest outcomes that the training rule allows, by an exponential average with decay 0.8',
  unit: UNIT,
};

const DECAY = 0.8;
/** Missing purge: the outcome of yesterday's forecast counts as known today. */
const UNPURGED_LEAK = 'an outcome counts as known the day after its forecast, before its window is over';

interface LabelSource extends BacktestHistory {
  days: readonly OutOfSampleDay[];
  horizonDays: number;
}

/** Runs two forecasters that read only earlier outcomes: they have skill only if the purge leaks. */
export function runLabelCanaries(labels: LabelSource, rules: LearningRules): CanaryRun[] {
  const repeatLabel: Forecaster = (_, lastKnownRow) => (row) => rose(labels, lastKnownRow(row));
  return [runLabelCanary(REPEATED_LABEL, repeatLabel, labels, rules), runLabelCanary(LABEL_AVERAGE, averageLabels, labels, rules)];
}

type Forecaster = (labels: LabelSource, lastKnownRow: (row: number) => number) => (row: number) => boolean;

function runLabelCanary(text: CanaryDescription, forecaster: Forecaster, labels: LabelSource, { lastKnownDay }: LearningRules): CanaryRun {
  const { days, horizonDays, features } = labels;
  const limit = computeAccuracyLimit(days, horizonDays);
  if (limit === null) return skippedCanary(text, `${days.length} out-of-sample days are too few to distinguish a leak from luck`);
  const rightBy = (lastKnownRow: (row: number) => number) => {
    const saysUp = forecaster(labels, lastKnownRow);
    return computeAccuracyBy(days, ({ row }) => saysUp(row));
  };
  return completedCanary(text, {
    figure: rightBy((row) => lastKnownDay(features.firstDay + row, horizonDays) - features.firstDay),
    limit,
    note: `at ${horizonDays} days, on ${days.length} out-of-sample days`,
    mutants: [{ what: UNPURGED_LEAK, figure: rightBy((row) => row - 1) }],
  });
}

function averageLabels(labels: LabelSource, lastKnownRow: (row: number) => number): (row: number) => boolean {
  const averages = new Float64Array(labels.closes.length).fill(0.5);
  for (let row = 1; row < averages.length; row++) averages[row] = DECAY * averages[row - 1] + (1 - DECAY) * (rose(labels, row) ? 1 : 0);
  return (row) => averages[lastKnownRow(row)] >= 0.5;
}

function rose({ closes, horizonDays }: LabelSource, row: number): boolean {
  return closes[row + horizonDays] > closes[row];
}
