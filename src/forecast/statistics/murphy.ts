import type { ProbabilityOutcome } from './reliability.ts';

/**
 * Brier score = reliability - resolution + uncertainty + withinBins (Murphy 1973; Stephenson et al. 2008 for the last part, which bins
 * of probabilities that are not all equal leave over). All in units of the Brier score.
 */
export interface MurphyDecomposition {
  brier: number;
  /** How far what was said is from what happened, bin by bin; lower is better. */
  reliability: number;
  /** How far bins differ in what happened; higher is better. */
  resolution: number;
  /** Of the outcomes themselves, whatever was said. */
  uncertainty: number;
  withinBins: number;
}

/** The decomposition over bins of equal width; null without anything to judge. */
export function decomposeBrier(forecasts: readonly ProbabilityOutcome[], bins: number): MurphyDecomposition | null {
  const n = forecasts.length;
  if (n === 0) return null;
  const groups = Map.groupBy(forecasts, ({ p }) => Math.min(bins - 1, Math.floor(p * bins)));
  const share = observedShare(forecasts);
  let reliability = 0;
  let resolution = 0;
  for (const group of groups.values()) {
    const observed = observedShare(group);
    const meanProbability = group.reduce((sum, { p }) => sum + p, 0) / group.length;
    reliability += (group.length / n) * (meanProbability - observed) ** 2;
    resolution += (group.length / n) * (observed - share) ** 2;
  }
  const brier = forecasts.reduce((sum, { p, happened }) => sum + (p - (happened ? 1 : 0)) ** 2, 0) / n;
  const uncertainty = share * (1 - share);
  return { brier, reliability, resolution, uncertainty, withinBins: brier - reliability + resolution - uncertainty };
}

function observedShare(forecasts: readonly ProbabilityOutcome[]): number {
  return forecasts.filter(({ happened }) => happened).length / forecasts.length;
}
