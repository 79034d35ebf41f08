import { computeEffectiveCount } from '../math/effective-count.ts';
import { computeShareInterval } from '../math/share-interval.ts';
import type { Interval } from '../scoring.ts';
import type { ScoredForecast } from './scored-forecast.ts';

/** How often outcomes fell into the central part of the predictive distribution that should hold `nominal` of them. */
export interface BandCoverage {
  nominal: number;
  observed: number;
  /** Wilson interval of the share on the effective number of outcomes. */
  interval95: Interval;
}

/** How often outcomes fell below a quantile. */
export interface QuantileCoverage {
  level: number;
  observed: number;
  interval95: Interval;
}

/** How good the predictive distributions were. */
export interface DistributionStatistics {
  n: number;
  effectiveN: number;
  /** Mean continuous ranked probability score, in log-return units; lower is better. */
  crps: number;
  coverage: BandCoverage[];
  quantiles: QuantileCoverage[];
}

const CENTRAL_BANDS = [0.5, 0.8, 0.9] as const;
const QUANTILE_LEVELS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95] as const;

/** Statistics of the distributions of one horizon, of those forecasts that have one; null without any. */
export function computeDistributionStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): DistributionStatistics | null {
  const known = forecasts.flatMap(({ day, distribution }) => (distribution === null ? [] : [{ day, ...distribution }]));
  const n = known.length;
  if (n === 0) return null;
  const effectiveN = computeEffectiveCount(
    known.map(({ day }) => day),
    horizonDays,
  );
  const share = (isIn: (pit: number) => boolean) => {
    const observed = known.filter(({ pit }) => isIn(pit)).length / n;
    return { observed, interval95: computeShareInterval(observed, effectiveN) };
  };
  return {
    n,
    effectiveN,
    crps: known.reduce((sum, { crps }) => sum + crps, 0) / n,
    coverage: CENTRAL_BANDS.map((nominal) => ({ nominal, ...share((pit) => Math.abs(pit - 0.5) <= nominal / 2) })),
    quantiles: QUANTILE_LEVELS.map((level) => ({ level, ...share((pit) => pit <= level) })),
  };
}
