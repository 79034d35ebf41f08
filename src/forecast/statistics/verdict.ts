import { selectNonOverlapping } from '../scoring.ts';
import { advantageOverAlwaysUp } from './advantage.ts';
import type { Call, ShareOfWins } from './record-summary.ts';

export interface VerdictInput {
  /** Of the same calls. */
  share: ShareOfWins;
  /** Forecasts that are over and abstained. */
  holds: number;
  horizonDays: number;
}

const RELATION = { '-1': 'worse than', 0: 'not distinguishable from', 1: 'better than' } as const;

/**
 * What the calls of a record amount to, in words: the share of all calls with the interval that every door tells of it, and where
 * windows overlap the counts of those that do not.
 */
export function verdictOf(calls: readonly Call[], { share, holds, horizonDays }: VerdictInput): string {
  if (share.interval95 === null) return withoutCalls(holds);
  const { n, wins, effectiveN, independent, independentWins, interval95 } = share;
  const everyCallUp = calls.every(({ scored }) => scored?.call === 'UP');
  const overlapping = independent < n;
  const worth = overlapping ? `, worth ${effectiveN.toFixed(effectiveN < 10 ? 1 : 0)} independent calls` : '';
  const interval = `95 % interval ${interval95.low.toFixed(2)} to ${interval95.high.toFixed(2)}`;
  const always = everyCallUp ? 'every call was UP, so that no skill can show' : `always-UP ${risesIn(calls)} of ${n}`;
  const rises = everyCallUp ? '' : `, always-UP ${risesIn(selectNonOverlapping(calls, horizonDays))}`;
  const apart = overlapping ? `; on windows that do not overlap ${independentWins} of ${independent}${rises}` : '';
  const scored = selectNonOverlapping(calls, 1).flatMap((call) => call.scored ?? []);
  const relation = RELATION[advantageOverAlwaysUp(scored, horizonDays)];
  return `${relation} always-UP: ${wins} of ${n} right${worth}, ${interval}; ${always}${apart}`;
}

function withoutCalls(holds: number): string {
  if (holds === 0) return 'nothing resolved yet: no claim can be made';
  return `no call made: all ${holds} forecasts that are over abstained (HOLD)`;
}

function risesIn(calls: readonly Call[]): number {
  return calls.filter(({ scored }) => scored?.rose).length;
}
