import type { Day } from '../day.ts';
import { countEffective } from '../math/effective-count.ts';
import { computeAccuracy, computeShareInterval, type Outcome, selectNonOverlapping } from '../scoring.ts';
import type { ScoredForecast } from './scored-forecast.ts';

export type RecordStatus = 'WIN' | 'LOSS' | 'HOLD' | 'VOID' | 'PENDING';

export interface RecordRow {
  day: Day;
  status: RecordStatus;
  /** No forecast was made that day; such a row is VOID. */
  missed: boolean;
  /** Null until the outcome is revealed, and for VOID. */
  scored: ScoredForecast | null;
}

export type WinRate = ReturnType<typeof computeWinRate>;

/** Win rate of one horizon's forecasts, given in the order of their sequence. */
export function computeWinRate(rows: readonly RecordRow[], horizonDays: number) {
  const calls = rows.filter(isScored);
  const outcomes = calls.map(({ status }) => status);
  const independent = selectNonOverlapping(calls, horizonDays).map(({ status }) => status);
  const accuracy = computeAccuracy(outcomes);
  const effectiveN = countEffective(selectNonOverlapping(calls, 1), horizonDays);
  return {
    n: outcomes.length,
    wins: countWins(outcomes),
    accuracy,
    effectiveN,
    // Calls with windows that do not overlap.
    independent: independent.length,
    independentWins: countWins(independent),
    independentAccuracy: computeAccuracy(independent),
    interval95: accuracy === null ? null : computeShareInterval(accuracy, effectiveN),
  };
}

function countWins(outcomes: readonly Outcome[]): number {
  return outcomes.filter((outcome) => outcome === 'WIN').length;
}

export type ScoredCall = RecordRow & { status: Outcome };

export function isScored(row: RecordRow): row is ScoredCall {
  return row.status === 'WIN' || row.status === 'LOSS';
}
