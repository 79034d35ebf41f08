import { OracleError } from '../../platform/errors.ts';
import { meanBy, shareOf } from '../math/mean.ts';
import { computeShareInterval, type Interval } from '../scoring.ts';

export interface ProbabilityOutcome {
  p: number;
  happened: boolean;
}

/** Forecast and observed frequency within one tenth of the probability range. */
export interface ReliabilityBin {
  /** Lower bound, inclusive; the upper one is exclusive, except 1. */
  from: number;
  to: number;
  n: number;
  effectiveN: number;
  /** Null for an empty bin, like the share. */
  meanProbability: number | null;
  observedShare: number | null;
  /** 95 % Wilson interval of the share on `effectiveN` trials; null for an empty bin. */
  interval95: Interval | null;
}

const BIN_COUNT = 10;

/**
 * Reliability in ten bins of equal width, empty ones included.
 * @param effectiveCountOf effective number of outcomes in a bin; by default the members are independent
 * @throws OracleError INPUT_INVALID for a `p` outside 0 to 1
 */
export function computeReliabilityBins<T extends ProbabilityOutcome>(
  forecasts: readonly T[],
  effectiveCountOf: (members: readonly T[]) => number = ({ length }) => length,
): ReliabilityBin[] {
  const members = Map.groupBy(forecasts, ({ p }) => toBinIndex(p));
  return Array.from({ length: BIN_COUNT }, (_, index) => {
    const bin = members.get(index) ?? [];
    return buildBin(index, bin, effectiveCountOf(bin));
  });
}

function toBinIndex(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new OracleError('INPUT_INVALID', `${p} is not a probability`, { field: 'p' });
  return Math.min(BIN_COUNT - 1, Math.floor(p * BIN_COUNT));
}

function buildBin(index: number, members: readonly ProbabilityOutcome[], effectiveN: number): ReliabilityBin {
  const n = members.length;
  const observedShare = n === 0 ? null : shareOf(members, ({ happened }) => happened);
  return {
    from: index / BIN_COUNT,
    to: (index + 1) / BIN_COUNT,
    n,
    effectiveN,
    meanProbability: n === 0 ? null : meanBy(members, ({ p }) => p),
    observedShare,
    interval95: observedShare === null ? null : computeShareInterval(observedShare, effectiveN),
  };
}
