import type { Day } from '../day.ts';
import { computeEffectiveCount } from '../math/effective-count.ts';
import { computeShareInterval } from '../math/share-interval.ts';
import { computeAccuracy, type Interval, type Outcome, selectNonOverlapping } from '../scoring.ts';
import type { ScoredForecast } from './scored-forecast.ts';

/** What became of a forecast, as everybody is told. */
export type RecordStatus = 'WIN' | 'LOSS' | 'HOLD' | 'VOID' | 'PENDING';

/** One forecast of a record, whatever became of it. */
export interface RecordRow {
  day: Day;
  status: RecordStatus;
  /** Nothing was forecast that day; such a row is VOID. */
  missed: boolean;
  /** What is scored; null until the outcome is told, and for VOID. */
  scored: ScoredForecast | null;
}

export interface WinRate {
  /** Scored forecasts: wins and losses. */
  n: number;
  wins: number;
  /** wins / n; null without any. */
  accuracy: number | null;
  /** How many independent ones all of them are worth. */
  effectiveN: number;
  /** How many of them have windows that do not overlap. */
  independent: number;
  independentWins: number;
  independentAccuracy: number | null;
  /** The 95 % interval of the accuracy, by `shareInterval`; null without any. */
  interval95: Interval | null;
}

/** How often forecasts of one horizon, given in the order of their sequence, were right. */
export function computeWinRate(rows: readonly RecordRow[], horizonDays: number): WinRate {
  const calls = rows.filter(isScored);
  const outcomes = calls.map(({ status }) => status);
  const independent = selectNonOverlapping(calls, horizonDays).map(({ status }) => status);
  const accuracy = computeAccuracy(outcomes);
  const days = selectNonOverlapping(calls, 1).map(({ day }) => day);
  const effectiveN = computeEffectiveCount(days, horizonDays);
  return {
    n: outcomes.length,
    wins: outcomes.filter((outcome) => outcome === 'WIN').length,
    accuracy,
    effectiveN,
    independent: independent.length,
    independentWins: independent.filter((outcome) => outcome === 'WIN').length,
    independentAccuracy: computeAccuracy(independent),
    interval95: accuracy === null ? null : computeShareInterval(accuracy, effectiveN),
  };
}

/** A forecast that did not abstain and is resolved. */
export type ScoredCall = RecordRow & { status: Outcome };

export function isScored(row: RecordRow): row is ScoredCall {
  return row.status === 'WIN' || row.status === 'LOSS';
}
