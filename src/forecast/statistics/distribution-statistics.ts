import type { Interval } from '../scoring.ts';
import { effectiveCount } from './effective-count.ts';
import type { ScoredForecast } from './scored-forecast.ts';
import { shareInterval } from './share-interval.ts';

/** How often outcomes fell into the central part of the predictive distribution that should hold `nominal` of them. */
export interface Coverage {
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
  coverage: Coverage[];
  quantiles: QuantileCoverage[];
}

const CENTRAL = [0.5, 0.8, 0.9] as const;
const LEVELS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95] as const;

/** Statistics of the distributions of one horizon, of those forecasts that have one; null without any. */
export function distributionStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): DistributionStatistics | null {
  const known = forecasts.flatMap(({ day, distribution }) => (distribution === null ? [] : [{ day, ...distribution }]));
  const n = known.length;
  if (n === 0) return null;
  const effectiveN = effectiveCount(
    known.map(({ day }) => day),
    horizonDays,
  );
  const share = (isIn: (pit: number) => boolean) => {
    const observed = known.filter(({ pit }) => isIn(pit)).length / n;
    return { observed, interval95: shareInterval(observed, effectiveN) };
  };
  return {
    n,
    effectiveN,
    crps: known.reduce((sum, { crps }) => sum + crps, 0) / n,
    coverage: CENTRAL.map((nominal) => ({ nominal, ...share((pit) => Math.abs(pit - 0.5) <= nominal / 2) })),
    quantiles: LEVELS.map((level) => ({ level, ...share((pit) => pit <= level) })),
  };
}
