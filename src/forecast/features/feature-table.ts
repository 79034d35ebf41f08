import type { Day } from '../day.ts';

/**
 * Columns of a feature table. The scores `trend`, `momentum`, `flow`, `value` and `vol` are in [-1, 1] and never masked; the others may
 * be NaN. `ret*`, `gap*`, `cross` and `drawdown` (from the 365-day high) are log ratios, `v94`, `v97` and `v99` exponentially weighted
 * daily variances of log returns, `rangeVariance` one from highs and lows, `vratio` daily volatility over its one-year median.
 */
export const FEATURE_NAMES = [
  'trend',
  'momentum',
  'flow',
  'value',
  'vol',
  'z50',
  'z200',
  'zc',
  'm7',
  'm28',
  'm91',
  'etf',
  'takz',
  'funz',
  'spz',
  'dxz',
  'pmi',
  'macro',
  'mvz',
  'fg7',
  'gz',
  'vratio',
  'ret7',
  'ret30',
  'ret90',
  'gap200',
  'gap50',
  'cross',
  'drawdown',
  'v94',
  'v97',
  'v99',
  'rangeVariance',
] as const;

export type FeatureName = (typeof FEATURE_NAMES)[number];
/** Columns aligned with the frame: row `i` is day `firstDay + i`. */
export type FeatureTable = { firstDay: Day; length: number } & Record<FeatureName, Float64Array>;
