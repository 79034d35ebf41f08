import { OracleError } from '../platform/errors.ts';
import { type CentralHalfWidths, computeHalfWidths } from './central-range.ts';
import { formatDay } from './day.ts';
import { computePriceQuantiles, type PredictiveDistribution, type PriceQuantile } from './distribution.ts';
import type { FeatureTable } from './features/feature-table.ts';
import { computeCalibratedLogit, computeDeviation } from './fit/calibration.ts';
import { sigmoid } from './fit/logistic.ts';
import type { HorizonDays, HorizonModel } from './model.ts';
import { findModelVersion } from './models/registry.ts';
import { REGIMES, type Regime } from './regime/regime.ts';

export type Direction = 'UP' | 'DOWN';
export type Signal = 'BUY' | 'SELL' | 'HOLD';
export const CATEGORY_NAMES = ['trend', 'momentum', 'flow', 'value'] as const;
export type CategoryName = (typeof CATEGORY_NAMES)[number];

export interface CategoryScore {
  /** -1 to 1; 0 without any available input. */
  score: number;
  signal: Signal;
}

export const FORECAST_LEVELS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95] as const;
export const CONFIDENCE_RANGE = { least: 0.5, most: 0.99 } as const;
/** Score beyond which a category is BUY or, below its negative, SELL. */
const CATEGORY_SIGNAL_THRESHOLD = 0.2;

export interface ForecastValues {
  horizonDays: HorizonDays;
  modelVersion: string;
  /** Calibrated P(close at resolution > close at window open). */
  pUp: number;
  /** Shrunk share of rises in training: the reference of the forecast's skill. */
  climatology: number;
  direction: Direction;
  /** Probability of the direction, clipped to .50 to .99. */
  confidence: number;
  signal: Signal;
  regime: Regime;
  /** Minimum distance of pUp from one half for a signal in this regime. */
  threshold: number;
  /** Base price of the quantiles, USD. */
  price: number;
  distribution: PredictiveDistribution;
  /** Public at once: they do not depend on pUp. */
  halfWidths: CentralHalfWidths;
  quantiles: PriceQuantile[];
  categories: Record<CategoryName, CategoryScore>;
}

export interface CoreForecastSource {
  model: HorizonModel;
  features: FeatureTable;
  index: number;
  regime: Regime;
}

/** The part of a forecast that does not depend on the price. */
export type CoreForecast = Pick<ForecastValues, 'pUp' | 'threshold' | 'signal' | 'distribution'>;

export interface ForecastSource extends CoreForecastSource {
  price: number;
}

/**
 * The forecast of one day and horizon, by the model of the day's block.
 * @throws OracleError INPUT_INVALID for a row outside the table, a model trained on the day or later, or a price not above 0.
 */
export function buildForecast(source: ForecastSource): ForecastValues {
  requireValidSource(source);
  const { model, features, index, regime, price } = source;
  const { pUp, threshold, signal, distribution } = computeCoreForecast(source);
  return {
    horizonDays: model.horizonDays,
    modelVersion: model.modelVersion,
    pUp,
    climatology: model.baseRate,
    direction: toDirection(pUp),
    confidence: toConfidence(pUp),
    signal,
    regime,
    threshold,
    price,
    distribution,
    halfWidths: computeHalfWidths(distribution),
    quantiles: computePriceQuantiles(distribution, FORECAST_LEVELS, price),
    categories: scoreCategories(features, index),
  };
}

/** The forecast of one row; the caller must ensure that the model was not trained on it. */
export function computeCoreForecast({ model, features, index, regime }: CoreForecastSource): CoreForecast {
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

function scoreCategories(features: FeatureTable, index: number): Record<CategoryName, CategoryScore> {
  const { trend, momentum, flow, value } = features;
  return {
    trend: toCategoryScore(trend[index]),
    momentum: toCategoryScore(momentum[index]),
    flow: toCategoryScore(flow[index]),
    value: toCategoryScore(value[index]),
  };
}

function toCategoryScore(score: number): CategoryScore {
  if (score >= CATEGORY_SIGNAL_THRESHOLD) return { score, signal: 'BUY' };
  return { score, signal: score <= -CATEGORY_SIGNAL_THRESHOLD ? 'SELL' : 'HOLD' };
}
