import { brierScore, computeAccuracy, computeStreaks, type Interval, type Outcome, wilsonInterval } from '../scoring.ts';
import type { ScoredForecast } from './scored-forecast.ts';
import { formatRecordVerdict } from './verdict.ts';
import { computeWinRate, isScored, type RecordRow, type RecordStatus, type WinRate } from './win-rate.ts';

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
export function summarizeRecord(rows: readonly RecordRow[], horizonDays: number): RecordSummary {
  const share = computeWinRate(rows, horizonDays);
  const calls = rows.filter(isScored);
  const countOf = (status: RecordStatus) => rows.filter((row) => row.status === status).length;
  const streaks = computeStreaks(calls.map(({ status }) => status));
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
    dedupedInterval95: computeDedupedInterval(share),
    accuracyInterval95: share.interval95,
    alwaysUpAccuracy: computeAccuracy(calls.map(({ scored }) => (scored?.rose ? 'WIN' : 'LOSS'))),
    streak: streaks.current ?? { count: 0, type: null },
    longestWinStreak: streaks.longestWin,
    brier: compareBrier(rows),
    verdict: formatRecordVerdict(calls, { share, holds, horizonDays }),
  };
}

/** Mean squared error of P(up), and of the training period's base rate on the same days. */
export function compareBrier(rows: readonly Pick<RecordRow, 'scored'>[]): RecordSummary['brier'] {
  const scoredForecasts = rows.flatMap(({ scored }) => (scored === null ? [] : [scored]));
  if (scoredForecasts.length === 0 || scoredForecasts.some(({ climatology }) => climatology === null)) return null;
  const mean = (probability: (scored: ScoredForecast) => number) =>
    scoredForecasts.reduce((sum, scored) => sum + brierScore(probability(scored), scored.rose), 0) / scoredForecasts.length;
  return { n: scoredForecasts.length, model: mean(({ pUp }) => pUp), climatology: mean(({ climatology }) => climatology!) };
}

function computeDedupedInterval({ independent, independentWins }: WinRate): Interval | null {
  return independent === 0 ? null : wilsonInterval(independentWins, independent);
}
