import { OracleError } from '../errors.ts';
import { type Day, formatDay } from './day.ts';
import { computeHalfWidths, type PredictiveDistribution, quantile } from './distribution.ts';
import { computeCalibratedLogit, computeDeviation, sigmoid } from './fit.ts';
import { type FeatureTable, toRecord } from './inputs.ts';
import { Z_95 } from './math.ts';
import type { HorizonModel } from './model.ts';
import { findModelVersion } from './models.ts';
import { REGIMES, type Regime } from './regime.ts';

export type Direction = 'UP' | 'DOWN';
export type Signal = 'BUY' | 'SELL' | 'HOLD';
export const CATEGORY_NAMES = ['trend', 'momentum', 'flow', 'value'] as const;

export interface CategoryScore {
  /** -1 to 1; 0 without any available input. */
  score: number;
  signal: Signal;
}

export const FORECAST_LEVELS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95] as const;
export const CONFIDENCE_RANGE = { least: 0.5, most: 0.99 } as const;
/** Score beyond which a category is BUY or, below its negative, SELL. */
const CATEGORY_SIGNAL_THRESHOLD = 0.2;

export type ForecastValues = ReturnType<typeof buildForecast>;

interface CoreForecastSource {
  model: HorizonModel;
  features: FeatureTable;
  index: number;
  regime: Regime;
}

export interface ForecastSource extends CoreForecastSource {
  price: number;
}

/**
 * The forecast of one day and horizon, by the model of the day's block.
 * @throws OracleError INPUT_INVALID for a row outside the table, a model trained on the day or later, or a price not above 0.
 */
export function buildForecast(source: ForecastSource) {
  requireValidSource(source);
  const { model, features, index, regime, price } = source;
  const { pUp, threshold, signal, distribution } = computeCoreForecast(source);
  return {
    horizonDays: model.horizonDays,
    modelVersion: model.modelVersion,
    /** Calibrated P(close at resolution > close at window open). */
    pUp,
    /** Shrunk share of rises in training: the reference of the forecast's skill. */
    climatology: model.baseRate,
    direction: toDirection(pUp),
    /** Probability of the direction, clipped to .50 to .99. */
    confidence: toConfidence(pUp),
    signal,
    regime,
    /** Minimum distance of pUp from one half for a signal in this regime. */
    threshold,
    /** Base price of the quantiles, USD. */
    price,
    distribution,
    /** Public at once: they do not depend on pUp. */
    halfWidths: computeHalfWidths(distribution),
    quantiles: computePriceQuantiles(distribution, FORECAST_LEVELS, price),
    categories: toRecord(CATEGORY_NAMES, (name) => toCategoryScore(features[name][index])),
  };
}

/** Quantiles as log returns and, from today's price `spot`, as prices. */
export function computePriceQuantiles(distribution: PredictiveDistribution, levels: readonly number[], spot: number) {
  return levels.map((level) => {
    const logReturn = quantile(distribution, level);
    return { level, logReturn, price: spot * Math.exp(logReturn) };
  });
}

/** The forecast of one row; the caller must ensure that the model was not trained on it. */
export function computeCoreForecast({ model, features, index, regime }: CoreForecastSource) {
  const pUp = sigmoid(computeCalibratedLogit(model, computeDeviation(model, features, index)));
  const distribution = findModelVersion(model.modelVersion).buildDistribution(model, { features, row: index, pUp });
  const threshold = REGIMES[regime].theta;
  return { pUp, threshold, signal: toSignal(pUp, threshold), distribution };
}

function requireValidSource({ model, features, index, price }: ForecastSource): void {
  if (!(index >= 0 && index < features.length)) {
    throw new OracleError('INPUT_INVALID', `there is no row ${index} in a table of ${features.length}`, { field: 'index' });
  }
  const day = features.firstDay + index;
  if (model.trainTo + model.horizonDays >= day) {
    throw new OracleError('INPUT_INVALID', `${model.modelVersion} was trained on the price of ${formatDay(day)}`, { field: 'model' });
  }
  if (!(price > 0)) throw new OracleError('INPUT_INVALID', `a price of ${price} cannot be forecast`, { field: 'price' });
}

export function toDirection(pUp: number): Direction {
  return pUp >= 0.5 ? 'UP' : 'DOWN';
}

/** Probability of the more likely direction, clipped to .50 to .99. */
export function toConfidence(pUp: number): number {
  return Math.min(CONFIDENCE_RANGE.most, Math.max(CONFIDENCE_RANGE.least, pUp, 1 - pUp));
}

/** BUY or SELL at a distance of at least `threshold` from one half, else HOLD. */
export function toSignal(pUp: number, threshold: number): Signal {
  if (pUp >= 0.5 + threshold) return 'BUY';
  return pUp <= 0.5 - threshold ? 'SELL' : 'HOLD';
}

function toCategoryScore(score: number): CategoryScore {
  if (score >= CATEGORY_SIGNAL_THRESHOLD) return { score, signal: 'BUY' };
  return { score, signal: score <= -CATEGORY_SIGNAL_THRESHOLD ? 'SELL' : 'HOLD' };
}

/**
 * What is known of the direction. From a pre-registered study of November 2026: eight hypotheses were written down before any fit, selected
 * on folds 1 to 14 of the recorded history and looked at once on folds 15 to 19. It is no figure of a service's own record.
 */
export const DIRECTION_EVIDENCE =
  'In a pre-registered study of 3,420 recorded days (November 2026) the direction had no skill: SELL never occurred, and at 7 days it was always UP. What has skill is the width: the size of the move.';

export type Outcome = 'WIN' | 'LOSS';
const MIN_PROBABILITY = 1e-12;

/** UP wins if the close at resolution is strictly higher than the close at window open; DOWN wins otherwise. */
export function scoreDirection(direction: Direction, closeAtOpen: number, closeAtResolution: number): Outcome {
  return (direction === 'UP') === closeAtResolution > closeAtOpen ? 'WIN' : 'LOSS';
}

export function brierScore(pUp: number, rose: boolean): number {
  return (pUp - (rose ? 1 : 0)) ** 2;
}

/** Natural-log loss of a probability, lower is better; clipped at 1e-12 so that a wrong certainty stays finite. */
export function boundedLogLoss(p: number, happened: boolean): number {
  return -Math.log(Math.max(happened ? p : 1 - p, MIN_PROBABILITY));
}

export function computeAccuracy(outcomes: readonly Outcome[]): number | null {
  if (outcomes.length === 0) return null;
  return outcomes.filter((outcome) => outcome === 'WIN').length / outcomes.length;
}

export interface Interval {
  low: number;
  high: number;
}

/** 95 % Wilson score interval of `hits` in `n` trials; [0, 1] without trials. @throws OracleError INPUT_INVALID unless 0 <= hits <= n */
export function wilsonInterval(hits: number, n: number): Interval {
  if (!(hits >= 0 && hits <= n)) throw new OracleError('INPUT_INVALID', `${hits} hits in ${n} trials`, { field: 'hits' });
  if (n === 0) return { low: 0, high: 1 };
  const share = hits / n;
  const z = Z_95;
  const weight = 1 + z ** 2 / n;
  const centre = (share + z ** 2 / (2 * n)) / weight;
  const half = (z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))) / weight;
  // Rounding may move the bounds past a share of 0 or 1.
  return { low: hits === 0 ? 0 : Math.max(0, centre - half), high: hits === n ? 1 : Math.min(1, centre + half) };
}

/**
 * 95 % interval of a share of outcomes, the same on every interface: Wilson's on the effective number of trials, since overlapping
 * windows are correlated. Without drift its coverage is about 95 %.
 * @throws OracleError INPUT_INVALID unless `share` is 0 to 1
 */
export function computeShareInterval(share: number, effectiveN: number): Interval {
  return wilsonInterval(share * effectiveN, effectiveN);
}

/**
 * Forecasts whose windows of `horizonDays` do not overlap, chosen greedily from the first: correlated outcomes overstate the sample.
 * Expects ascending days and keeps a repeated day once.
 */
export function selectNonOverlapping<T extends { day: Day }>(forecasts: readonly T[], horizonDays: number): T[] {
  const kept: T[] = [];
  for (const forecast of forecasts) {
    const last = kept.at(-1);
    if (last === undefined || forecast.day >= last.day + horizonDays) kept.push(forecast);
  }
  return kept;
}
