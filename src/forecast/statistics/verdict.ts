import { selectNonOverlapping } from '../scoring.ts';
import { testAdvantageOverAlwaysUp } from './advantage.ts';
import type { ScoredCall, WinRate } from './win-rate.ts';

export interface RecordVerdictInput {
  /** Of the same calls. */
  share: WinRate;
  /** Forecasts that are over and abstained. */
  holds: number;
  horizonDays: number;
}

const RELATION_BY_SIGN = { '-1': 'worse than', 0: 'not distinguishable from', 1: 'better than' } as const;

/**
 * What the calls of a record amount to, in words: the share of all calls with the interval that every door tells of it, and where
 * windows overlap the counts of those that do not.
 */
export function formatRecordVerdict(calls: readonly ScoredCall[], { share, holds, horizonDays }: RecordVerdictInput): string {
  if (share.interval95 === null) return formatVerdictWithoutCalls(holds);
  const { n, wins, effectiveN, independent, independentWins, interval95 } = share;
  const everyCallUp = calls.every(({ scored }) => scored?.call === 'UP');
  const overlapping = independent < n;
  const worth = overlapping ? `, worth ${effectiveN.toFixed(effectiveN < 10 ? 1 : 0)} independent calls` : '';
  const interval = `95 % interval ${interval95.low.toFixed(2)} to ${interval95.high.toFixed(2)}`;
  const always = everyCallUp ? 'every call was UP, so that no skill can show' : `always-UP ${countRises(calls)} of ${n}`;
  const rises = everyCallUp ? '' : `, always-UP ${countRises(selectNonOverlapping(calls, horizonDays))}`;
  const apart = overlapping ? `; on windows that do not overlap ${independentWins} of ${independent}${rises}` : '';
  const scored = selectNonOverlapping(calls, 1).flatMap((call) => call.scored ?? []);
  const relation = RELATION_BY_SIGN[testAdvantageOverAlwaysUp(scored, horizonDays)];
  return `${relation} always-UP: ${wins} of ${n} right${worth}, ${interval}; ${always}${apart}`;
}

function formatVerdictWithoutCalls(holds: number): string {
  if (holds === 0) return 'nothing resolved yet: no claim can be made';
  return `no call made: all ${holds} forecasts that are over abstained (HOLD)`;
}

function countRises(calls: readonly ScoredCall[]): number {
  return calls.filter(({ scored }) => scored?.rose).length;
}
