import { OracleError } from '../errors.ts';

/** A probability of something, and whether it happened. */
export interface Judged {
  p: number;
  happened: boolean;
}

/** What was said and what happened within one tenth of the probabilities. */
export interface ReliabilityBin {
  /** Lower bound, included; the upper one is not, except 1. */
  from: number;
  to: number;
  n: number;
  /** Means of the bin; null for an empty one. */
  meanProbability: number | null;
  observedShare: number | null;
}

const BINS = 10;

/**
 * Reliability of probabilities in ten bins of equal width, empty ones included.
 * @throws OracleError INPUT_INVALID for what is no probability.
 */
export function reliabilityBins(judged: readonly Judged[]): ReliabilityBin[] {
  const members = Map.groupBy(judged, ({ p }) => binOf(p));
  return Array.from({ length: BINS }, (_, index) => binFrom(index, members.get(index) ?? []));
}

function binOf(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new OracleError('INPUT_INVALID', `${p} is not a probability`, { field: 'p' });
  return Math.min(BINS - 1, Math.floor(p * BINS));
}

function binFrom(index: number, members: readonly Judged[]): ReliabilityBin {
  const n = members.length;
  return {
    from: index / BINS,
    to: (index + 1) / BINS,
    n,
    meanProbability: n === 0 ? null : members.reduce((sum, { p }) => sum + p, 0) / n,
    observedShare: n === 0 ? null : members.filter(({ happened }) => happened).length / n,
  };
}
