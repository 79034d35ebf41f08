import { formatPercent } from '../math/format-percent.ts';
import { selectNonOverlapping } from '../scoring.ts';
import { testAdvantageOverAlwaysUp } from './advantage.ts';
import { compareSelection } from './call-statistics.ts';
import type { ScoredForecast } from './scored-forecast.ts';
import type { ScoredCall, WinRate } from './win-rate.ts';

export interface RecordVerdictInput {
  /** Of the same calls. */
  share: WinRate;
  holds: number;
  horizonDays: number;
  /** Resolved forecasts in the order of their sequence, HOLD included. */
  resolved: readonly ScoredForecast[];
}

/** Relation of a figure to its reference, by the sign of its significant difference. */
export const RELATIONS = { '-1': 'worse than', 0: 'not distinguishable from', 1: 'better than' } as const;

/** The verdict on one horizon's calls: their win rate with its interval, and the counts of windows that do not overlap. */
export function formatRecordVerdict(calls: readonly ScoredCall[], { share, holds, horizonDays, resolved }: RecordVerdictInput): string {
  if (share.interval95 === null) return formatVerdictWithoutCalls(holds);
  const { n, wins, effectiveN, independent, independentWins, interval95 } = share;
  const everyCallUp = calls.every(({ scored }) => scored?.call === 'UP');
  const overlapping = independent < n;
  const worth = overlapping ? `, worth ${effectiveN.toFixed(effectiveN < 10 ? 1 : 0)} independent calls` : '';
  const interval = `95 % interval ${interval95.low.toFixed(2)} to ${interval95.high.toFixed(2)}`;
  const always = everyCallUp
    ? `every call was UP: ${formatSelection(selectNonOverlapping(resolved, 1))}`
    : `always-UP ${countRises(calls)} of ${n}`;
  const rises = everyCallUp ? '' : `, always-UP ${countRises(selectNonOverlapping(calls, horizonDays))}`;
  const apart = overlapping ? `; on windows that do not overlap ${independentWins} of ${independent}${rises}` : '';
  const scored = selectNonOverlapping(calls, 1).flatMap((call) => call.scored ?? []);
  const relation = RELATIONS[testAdvantageOverAlwaysUp(scored, horizonDays)];
  return `${relation} always-UP: ${wins} of ${n} right${worth}, ${interval}; ${always}${apart}`;
}

/** What choosing the days was worth, where every call was UP. */
export function formatSelection(resolved: readonly ScoredForecast[]): string {
  const selection = compareSelection(resolved);
  if (selection === null) return 'no day was left out, so that it is always-UP';
  const { called, held, overHeld, all, overAll } = selection;
  const [other, difference] = held === null || overHeld === null ? [all, overAll] : [held, overHeld];
  const than = held === null ? 'of all days' : 'of HOLD days';
  const { value, low, high } = difference;
  const points = (share: number) => (100 * share).toFixed(1).replace(/^-(0\.0)$/, '$1');
  const interval =
    low === null || high === null ? ', on too few days for an interval' : ` (95 % interval ${points(low)} to ${points(high)})`;
  return `it rose on ${formatPercent(called)} of those days and on ${formatPercent(other)} ${than}, difference ${points(value)} points${interval}`;
}

function formatVerdictWithoutCalls(holds: number): string {
  if (holds === 0) return 'nothing resolved yet: no claim can be made';
  return `no calls: all ${holds} resolved forecasts were HOLD`;
}

function countRises(calls: readonly ScoredCall[]): number {
  return calls.filter(({ scored }) => scored?.rose).length;
}
