import { OracleError } from '../../platform/errors.ts';
import { computeShareInterval } from '../math/share-interval.ts';
import type { Interval } from '../scoring.ts';

/** A probability of something, and whether it happened. */
export interface ProbabilityOutcome {
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

const BIN_COUNT = 10;

/**
 * Reliability of probabilities in ten bins of equal width, empty ones included.
 * @param effectiveCountOf how many independent outcomes the members of a bin are worth, at most as many as they are; each is one unless told
 * @throws OracleError INPUT_INVALID for what is no probability.
 */
export function computeReliabilityBins<T extends ProbabilityOutcome>(
  forecasts: readonly T[],
  effectiveCountOf: (members: readonly T[]) => number = ({ length }) => length,
): ReliabilityBin[] {
  const members = Map.groupBy(forecasts, ({ p }) => toBinIndex(p));
  return Array.from({ length: BIN_COUNT }, (_, index) => {
    const of = members.get(index) ?? [];
    return buildBin(index, of, effectiveCountOf(of));
  });
}

function toBinIndex(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new OracleError('INPUT_INVALID', `${p} is not a probability`, { field: 'p' });
  return Math.min(BIN_COUNT - 1, Math.floor(p * BIN_COUNT));
}

function buildBin(index: number, members: readonly ProbabilityOutcome[], effectiveN: number): ReliabilityBin {
  const n = members.length;
  const observedShare = n === 0 ? null : members.filter(({ happened }) => happened).length / n;
  return {
    from: index / BIN_COUNT,
    to: (index + 1) / BIN_COUNT,
    n,
    effectiveN,
    meanProbability: n === 0 ? null : members.reduce((sum, { p }) => sum + p, 0) / n,
    observedShare,
    interval95: observedShare === null ? null : computeShareInterval(observedShare, effectiveN),
  };
}
