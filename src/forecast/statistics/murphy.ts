import { meanBy, shareOf } from '../math/mean.ts';
import type { ProbabilityOutcome } from './reliability.ts';

/**
 * Brier score = reliability - resolution + uncertainty + withinBins (Murphy 1973; the last term, for bins of unequal probabilities, by
 * Stephenson et al. 2008). All in units of the Brier score.
 */
export interface MurphyDecomposition {
  brier: number;
  /** Squared distance of forecast and observed frequency by bin; lower is better. */
  reliability: number;
  /** Variance of observed frequencies between bins; higher is better. */
  resolution: number;
  /** Variance of the outcomes, independent of the forecasts. */
  uncertainty: number;
  withinBins: number;
}

/** The decomposition over bins of equal width; null without forecasts. */
export function decomposeBrier(forecasts: readonly ProbabilityOutcome[], bins: number): MurphyDecomposition | null {
  const n = forecasts.length;
  if (n === 0) return null;
  const groups = Map.groupBy(forecasts, ({ p }) => Math.min(bins - 1, Math.floor(p * bins)));
  const share = shareOf(forecasts, ({ happened }) => happened);
  let reliability = 0;
  let resolution = 0;
  for (const group of groups.values()) {
    const observed = shareOf(group, ({ happened }) => happened);
    reliability += (group.length / n) * (meanBy(group, ({ p }) => p) - observed) ** 2;
    resolution += (group.length / n) * (observed - share) ** 2;
  }
  const brier = meanBy(forecasts, ({ p, happened }) => (p - (happened ? 1 : 0)) ** 2);
  const uncertainty = share * (1 - share);
  return { brier, reliability, resolution, uncertainty, withinBins: brier - reliability + resolution - uncertainty };
}
