import { selectNonOverlapping, wilsonInterval } from '../scoring.ts';
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
 * What the calls of a record amount to, in words. Counts and interval are those of windows that do not overlap: each of these is an
 * observation, and the interval is that of the counts which are told.
 */
export function verdictOf(calls: readonly Call[], { share, holds, horizonDays }: VerdictInput): string {
  if (share.accuracy === null) return withoutCalls(holds);
  const { n, accuracy, independent, independentWins } = share;
  const { low, high } = wilsonInterval(independentWins, independent);
  const rises = risesIn(selectNonOverlapping(calls, horizonDays));
  const everyCallUp = calls.every(({ scored }) => scored?.call === 'UP');
  const overlapping = independent < n;
  const counts = `${independentWins} of ${independent} right${overlapping ? ' on windows that do not overlap' : ''}`;
  const always = everyCallUp ? 'every call was UP, so that no skill can show' : `always-UP ${rises} of ${independent}`;
  const ofAll = overlapping ? `; of all ${n} calls ${accuracy.toFixed(2)}` : '';
  const alwaysOfAll = overlapping && !everyCallUp ? `, always-UP ${(risesIn(calls) / n).toFixed(2)}` : '';
  const scored = selectNonOverlapping(calls, 1).flatMap((call) => call.scored ?? []);
  const relation = RELATION[advantageOverAlwaysUp(scored, horizonDays)];
  return `${relation} always-UP: ${counts}, 95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}; ${always}${ofAll}${alwaysOfAll}`;
}

function withoutCalls(holds: number): string {
  if (holds === 0) return 'nothing resolved yet: no claim can be made';
  return `no call made: all ${holds} forecasts that are over abstained (HOLD)`;
}

function risesIn(calls: readonly Call[]): number {
  return calls.filter(({ scored }) => scored?.rose).length;
}
