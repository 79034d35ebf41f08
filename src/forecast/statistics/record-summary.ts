import type { Day } from '../day.ts';
import { accuracyOf, brierScore, type Interval, type Outcome, selectNonOverlapping, streaksOf, wilsonInterval } from '../scoring.ts';
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

export interface Streak {
  count: number;
  type: Outcome | null;
}

/** Counts and accuracy of one horizon's forecasts (interface, section 2.3). Shares 0 to 1. */
export interface RecordSummary {
  totalPredictions: number;
  /** Scored forecasts: wins and losses. */
  resolved: number;
  wins: number;
  losses: number;
  /** Counted and shown, never scored. */
  holds: number;
  voids: number;
  /** Those of the voids on which nothing was forecast. */
  missed: number;
  pending: number;
  /** Share of wins, 0 to 1; null before the first resolution. */
  accuracy: number | null;
  /** Forecasts left when overlapping windows are dropped: what the evidence is really worth. */
  dedupedTotal: number;
  dedupedAccuracy: number | null;
  /** 95 % Wilson interval of the accuracy, on the number of windows that do not overlap. */
  accuracyInterval95: Interval | null;
  /** What always saying UP would have scored on the same forecasts. */
  alwaysUpAccuracy: number | null;
  streak: Streak;
  longestWinStreak: number;
  /** The probabilities of all resolved forecasts, HOLD included, against the base rate known at the time; null before the first, and where that rate is not known. */
  brier: { n: number; model: number; climatology: number } | null;
  /** What the figures amount to, in words. */
  verdict: string;
}

/** Summary of one horizon's forecasts, given in the order of their sequence. */
export function recordSummary(rows: readonly RecordRow[], horizonDays: number): RecordSummary {
  const share = shareOfWins(rows, horizonDays);
  const calls = rows.filter(isScored);
  const countOf = (status: RecordStatus) => rows.filter((row) => row.status === status).length;
  const streaks = streaksOf(calls.map(({ status }) => status));
  const alwaysUpAccuracy = accuracyOf(calls.map(({ scored }) => (scored?.rose ? 'WIN' : 'LOSS')));
  const everyCallUp = calls.every(({ scored }) => scored?.call === 'UP');
  const holds = countOf('HOLD');
  return {
    totalPredictions: rows.length,
    resolved: share.n,
    wins: share.wins,
    losses: share.n - share.wins,
    holds,
    voids: countOf('VOID'),
    missed: rows.filter(({ missed }) => missed).length,
    pending: countOf('PENDING'),
    accuracy: share.accuracy,
    dedupedTotal: share.independent,
    dedupedAccuracy: share.independentAccuracy,
    accuracyInterval95: share.interval95,
    alwaysUpAccuracy,
    streak: streaks.current ?? { count: 0, type: null },
    longestWinStreak: streaks.longestWin,
    brier: brierOf(rows),
    verdict: verdictOf({ ...share, holds, alwaysUpAccuracy, everyCallUp }),
  };
}

export interface ShareOfWins {
  /** Scored forecasts: wins and losses. */
  n: number;
  wins: number;
  /** wins / n; null without any. */
  accuracy: number | null;
  /** How many of them have windows that do not overlap: what the evidence is really worth. */
  independent: number;
  independentAccuracy: number | null;
  /** 95 % Wilson interval of the accuracy, on the number of windows that do not overlap; null without any. */
  interval95: Interval | null;
}

/** How often forecasts of one horizon, given in the order of their sequence, were right. */
export function shareOfWins(rows: readonly RecordRow[], horizonDays: number): ShareOfWins {
  const calls = rows.filter(isScored);
  const outcomes = calls.map(({ status }) => status);
  const independent = selectNonOverlapping(calls, horizonDays).map(({ status }) => status);
  const accuracy = accuracyOf(outcomes);
  return {
    n: outcomes.length,
    wins: outcomes.filter((outcome) => outcome === 'WIN').length,
    accuracy,
    independent: independent.length,
    independentAccuracy: accuracyOf(independent),
    interval95: accuracy === null ? null : wilsonInterval(accuracy * independent.length, independent.length),
  };
}

function isScored(row: RecordRow): row is RecordRow & { status: Outcome } {
  return row.status === 'WIN' || row.status === 'LOSS';
}

/** Mean squared error of P(up), and of the training period's base rate on the same days. */
export function brierOf(rows: readonly Pick<RecordRow, 'scored'>[]): RecordSummary['brier'] {
  const told = rows.flatMap(({ scored }) => (scored === null ? [] : [scored]));
  if (told.length === 0 || told.some(({ climatology }) => climatology === null)) return null;
  const mean = (probability: (scored: ScoredForecast) => number) =>
    told.reduce((sum, scored) => sum + brierScore(probability(scored), scored.rose), 0) / told.length;
  return { n: told.length, model: mean(({ pUp }) => pUp), climatology: mean(({ climatology }) => climatology!) };
}

interface VerdictInput extends ShareOfWins {
  holds: number;
  alwaysUpAccuracy: number | null;
  /** Then the accuracy is that of always saying UP, whatever it is. */
  everyCallUp: boolean;
}

function verdictOf({ wins, n, holds, independent, interval95, alwaysUpAccuracy, everyCallUp }: VerdictInput): string {
  if (interval95 === null || alwaysUpAccuracy === null) {
    return holds === 0
      ? 'nothing resolved yet: no claim can be made'
      : `no call made: all ${holds} forecasts that are over abstained (HOLD)`;
  }
  const { low, high } = interval95;
  const range = `${wins} of ${n} right, worth ${independent} independent ones, 95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}`;
  if (everyCallUp) return `no skill can show: every call was UP; ${range}`;
  const always = `always-UP scored ${alwaysUpAccuracy.toFixed(2)}`;
  if (low > alwaysUpAccuracy) return `better than always-UP: ${range}; ${always}`;
  if (high < alwaysUpAccuracy) return `worse than always-UP: ${range}; ${always}`;
  return `not distinguishable from always-UP: ${range}; ${always}`;
}
