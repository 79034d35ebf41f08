import { OracleError } from '../errors.ts';
import type { Interval } from './scoring.ts';
import { shareInterval } from './statistics/share-interval.ts';

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
  /** How many independent outcomes these are worth. */
  effectiveN: number;
  /** Means of the bin; null for an empty one. */
  meanProbability: number | null;
  observedShare: number | null;
  /** 95 % Wilson interval of the share on `effectiveN` trials; null for an empty bin. */
  interval95: Interval | null;
}

const BINS = 10;

/**
 * Reliability of probabilities in ten bins of equal width, empty ones included.
 * @param worthOf how many independent outcomes the members of a bin are worth, at most as many as they are; each is one unless told
 * @throws OracleError INPUT_INVALID for what is no probability.
 */
export function reliabilityBins<T extends Judged>(
  judged: readonly T[],
  worthOf: (members: readonly T[]) => number = ({ length }) => length,
): ReliabilityBin[] {
  const members = Map.groupBy(judged, ({ p }) => binOf(p));
  return Array.from({ length: BINS }, (_, index) => {
    const of = members.get(index) ?? [];
    return binFrom(index, of, worthOf(of));
  });
}

function binOf(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new OracleError('INPUT_INVALID', `${p} is not a probability`, { field: 'p' });
  return Math.min(BINS - 1, Math.floor(p * BINS));
}

function binFrom(index: number, members: readonly Judged[], effectiveN: number): ReliabilityBin {
  const n = members.length;
  const observedShare = n === 0 ? null : members.filter(({ happened }) => happened).length / n;
  return {
    from: index / BINS,
    to: (index + 1) / BINS,
    n,
    effectiveN,
    meanProbability: n === 0 ? null : members.reduce((sum, { p }) => sum + p, 0) / n,
    observedShare,
    interval95: observedShare === null ? null : shareInterval(observedShare, effectiveN),
  };
}
