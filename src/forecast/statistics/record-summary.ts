import type { Day } from '../day.ts';
import { accuracyOf, brierScore, type Interval, type Outcome, selectNonOverlapping, streaksOf, wilsonInterval } from '../scoring.ts';
import { effectiveCount } from './effective-count.ts';
import type { ScoredForecast } from './scored-forecast.ts';
import { shareInterval } from './share-interval.ts';
import { verdictOf } from './verdict.ts';

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
  /** Forecasts left when overlapping windows are dropped: what can be counted by hand. */
  dedupedTotal: number;
  dedupedWins: number;
  dedupedAccuracy: number | null;
  /** 95 % Wilson interval of `dedupedWins` in `dedupedTotal`: of that share, and not of the accuracy of all. */
  dedupedInterval95: Interval | null;
  /** The 95 % interval of the accuracy, by `shareInterval`: what every door tells first. */
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
    dedupedWins: share.independentWins,
    dedupedAccuracy: share.independentAccuracy,
    dedupedInterval95: dedupedInterval(share),
    accuracyInterval95: share.interval95,
    alwaysUpAccuracy: accuracyOf(calls.map(({ scored }) => (scored?.rose ? 'WIN' : 'LOSS'))),
    streak: streaks.current ?? { count: 0, type: null },
    longestWinStreak: streaks.longestWin,
    brier: brierOf(rows),
    verdict: verdictOf(calls, { share, holds, horizonDays }),
  };
}

export interface ShareOfWins {
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
export function shareOfWins(rows: readonly RecordRow[], horizonDays: number): ShareOfWins {
  const calls = rows.filter(isScored);
  const outcomes = calls.map(({ status }) => status);
  const independent = selectNonOverlapping(calls, horizonDays).map(({ status }) => status);
  const accuracy = accuracyOf(outcomes);
  const days = selectNonOverlapping(calls, 1).map(({ day }) => day);
  const effectiveN = effectiveCount(days, horizonDays);
  return {
    n: outcomes.length,
    wins: outcomes.filter((outcome) => outcome === 'WIN').length,
    accuracy,
    effectiveN,
    independent: independent.length,
    independentWins: independent.filter((outcome) => outcome === 'WIN').length,
    independentAccuracy: accuracyOf(independent),
    interval95: accuracy === null ? null : shareInterval(accuracy, effectiveN),
  };
}

/** A forecast that did not abstain and is resolved. */
export type Call = RecordRow & { status: Outcome };

function isScored(row: RecordRow): row is Call {
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

function dedupedInterval({ independent, independentWins }: ShareOfWins): Interval | null {
  return independent === 0 ? null : wilsonInterval(independentWins, independent);
}
