import { countEffective } from '../math/effective-count.ts';
import { meanBy, shareOf } from '../math/mean.ts';
import { computeShareInterval, type Interval } from '../scoring.ts';
import type { ScoredForecast } from './scored-forecast.ts';

/** Observed share, with its Wilson interval on the effective number of outcomes. */
interface Coverage {
  observed: number;
  interval95: Interval;
}

export interface DistributionStatistics {
  n: number;
  effectiveN: number;
  /** Mean continuous ranked probability score, in log-return units; lower is better. */
  crps: number;
  /** By nominal share of a central band of the distribution. */
  coverage: ({ nominal: number } & Coverage)[];
  quantiles: ({ level: number } & Coverage)[];
}

const CENTRAL_BANDS = [0.5, 0.8, 0.9] as const;
const QUANTILE_LEVELS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95] as const;

/** Statistics over the forecasts of one horizon that have a distribution; null without any. */
export function computeDistributionStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): DistributionStatistics | null {
  const known = forecasts.flatMap(({ day, distribution }) => (distribution === null ? [] : [{ day, ...distribution }]));
  if (known.length === 0) return null;
  const effectiveN = countEffective(known, horizonDays);
  const share = (isIn: (pit: number) => boolean) => {
    const observed = shareOf(known, ({ pit }) => isIn(pit));
    return { observed, interval95: computeShareInterval(observed, effectiveN) };
  };
  return {
    n: known.length,
    effectiveN,
    crps: meanBy(known, ({ crps }) => crps),
    coverage: CENTRAL_BANDS.map((nominal) => ({ nominal, ...share((pit) => Math.abs(pit - 0.5) <= nominal / 2) })),
    quantiles: QUANTILE_LEVELS.map((level) => ({ level, ...share((pit) => pit <= level) })),
  };
}
