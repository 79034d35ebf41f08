import type { Judged } from '../reliability.ts';

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
export function murphyDecomposition(judged: readonly Judged[], bins: number): MurphyDecomposition | null {
  const n = judged.length;
  if (n === 0) return null;
  const groups = Map.groupBy(judged, ({ p }) => Math.min(bins - 1, Math.floor(p * bins)));
  const share = shareOf(judged);
  let reliability = 0;
  let resolution = 0;
  for (const group of groups.values()) {
    const observed = shareOf(group);
    const said = group.reduce((sum, { p }) => sum + p, 0) / group.length;
    reliability += (group.length / n) * (said - observed) ** 2;
    resolution += (group.length / n) * (observed - share) ** 2;
  }
  const brier = judged.reduce((sum, { p, happened }) => sum + (p - (happened ? 1 : 0)) ** 2, 0) / n;
  const uncertainty = share * (1 - share);
  return { brier, reliability, resolution, uncertainty, withinBins: brier - reliability + resolution - uncertainty };
}

function shareOf(judged: readonly Judged[]): number {
  return judged.filter(({ happened }) => happened).length / judged.length;
}
