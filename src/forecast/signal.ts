import { OracleError } from '../platform/errors.ts';
import { formatDay } from './day.ts';
import { buildDistribution, computePriceQuantiles, computeScale, type PredictiveDistribution, type PriceQuantile } from './distribution.ts';
import type { FeatureTable } from './features/feature-table.ts';
import { computeCalibratedLogit, computeDeviation } from './fit/calibration.ts';
import { sigmoid } from './fit/logistic.ts';
import type { HorizonDays, HorizonModel } from './model.ts';
import { REGIMES, type Regime } from './regime/regime.ts';

export type Direction = 'UP' | 'DOWN';

export type Signal = 'BUY' | 'SELL' | 'HOLD';

export const CATEGORY_NAMES = ['trend', 'momentum', 'flow', 'value'] as const;

export type CategoryName = (typeof CATEGORY_NAMES)[number];

export interface CategoryScore {
  /** -1 to 1, 0 when no input of the category was available. */
  score: number;
  signal: Signal;
}

/** Levels of the quantiles a forecast carries. */
export const FORECAST_LEVELS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95] as const;

/** What a confidence is clipped to. */
export const CONFIDENCE_RANGE = { least: 0.5, most: 0.99 } as const;

/** Score beyond which a category is BUY or, below its negative, SELL. */
const CATEGORY_SIGNAL_THRESHOLD = 0.2;

/** One forecast of one horizon. */
export interface ForecastValues {
  horizonDays: HorizonDays;
  modelVersion: string;
  /** Calibrated P(close at resolution > close at window open). */
  pUp: number;
  /** The training period's shrunk share of rises: what the forecast is measured against. */
  climatology: number;
  direction: Direction;
  /** Probability of the direction, clipped to .50 to .99. */
  confidence: number;
  signal: Signal;
  regime: Regime;
  /** Distance of pUp from one half that the regime asks of a signal. */
  threshold: number;
  /** Price the quantiles start from, USD. */
  price: number;
  distribution: PredictiveDistribution;
  quantiles: PriceQuantile[];
  categories: Record<CategoryName, CategoryScore>;
}

/** What a model reads of a day. */
export interface CoreForecastSource {
  model: HorizonModel;
  features: FeatureTable;
  /** Row of the features to forecast from. */
  index: number;
  regime: Regime;
}

/** What a model says of a day, whatever the price. */
export type CoreForecast = Pick<ForecastValues, 'pUp' | 'threshold' | 'signal' | 'distribution'>;

export interface ForecastSource extends CoreForecastSource {
  /** Price at signal time, USD. */
  price: number;
}

/**
 * The forecast of one day and horizon, by the model of the day's block.
 * @throws OracleError INPUT_INVALID for a row the table does not have, a model that learned from the day or later, a price not above 0.
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
    quantiles: computePriceQuantiles(distribution, FORECAST_LEVELS, price),
    categories: scoreCategories(features, index),
  };
}

/** What the model says of one row, of which it must not have learned: nobody looks after that here. */
export function computeCoreForecast({ model, features, index, regime }: CoreForecastSource): CoreForecast {
  const pUp = sigmoid(computeCalibratedLogit(model, computeDeviation(model, features, index)));
  const scale = computeScale(features.v94[index], features.v99[index], model.horizonDays);
  const distribution = buildDistribution({ residualQuantiles: model.residualQuantiles, scale, pUp });
  const threshold = REGIMES[regime].theta;
  return { pUp, threshold, signal: toSignal(pUp, threshold), distribution };
}

function requireValidSource({ model, features, index, price }: ForecastSource): void {
  if (!(index >= 0 && index < features.length)) {
    throw new OracleError('INPUT_INVALID', `there is no row ${index} in a table of ${features.length}`, { field: 'index' });
  }
  const day = features.firstDay + index;
  if (model.trainTo + model.horizonDays >= day) {
    throw new OracleError('INPUT_INVALID', `${model.modelVersion} has learned from the price of ${formatDay(day)}`, { field: 'model' });
  }
  if (!(price > 0)) throw new OracleError('INPUT_INVALID', `a price of ${price} cannot be forecast`, { field: 'price' });
}

/** UP from one half on. */
export function toDirection(pUp: number): Direction {
  return pUp >= 0.5 ? 'UP' : 'DOWN';
}

/** Probability of the more likely direction, clipped to .50 to .99. */
export function toConfidence(pUp: number): number {
  return Math.min(CONFIDENCE_RANGE.most, Math.max(CONFIDENCE_RANGE.least, pUp, 1 - pUp));
}

/** BUY or SELL where P(up) is at least `threshold` from one half, else HOLD. */
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
