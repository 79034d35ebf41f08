import { meanBy } from '../math/mean.ts';
import { brierScore, computeAccuracy, computeStreaks, type Interval, type Outcome, wilsonInterval } from '../scoring.ts';
import type { ScoredForecast } from './scored-forecast.ts';
import { formatRecordVerdict } from './verdict.ts';
import { computeWinRate, isScored, type RecordRow, type RecordStatus } from './win-rate.ts';

export interface Streak {
  count: number;
  type: Outcome | null;
}

/** Counts and accuracy of one horizon's forecasts (interface, section 2.3). Shares 0 to 1. */
export interface RecordSummary {
  totalPredictions: number;
  resolved: number;
  wins: number;
  losses: number;
  /** Counted, never scored. */
  holds: number;
  voids: number;
  /** Voids of days without a forecast. */
  missed: number;
  pending: number;
  /** Share of wins, 0 to 1; null before the first resolution. */
  accuracy: number | null;
  /** Calls with windows that do not overlap. */
  dedupedTotal: number;
  dedupedWins: number;
  dedupedAccuracy: number | null;
  /** 95 % Wilson interval of `dedupedWins` in `dedupedTotal`, not of `accuracy`. */
  dedupedInterval95: Interval | null;
  /** 95 % interval of `accuracy`, by `computeShareInterval`. */
  accuracyInterval95: Interval | null;
  /** Accuracy of always calling UP on the same forecasts. */
  alwaysUpAccuracy: number | null;
  streak: Streak;
  longestWinStreak: number;
  /** Brier score of all resolved forecasts, HOLD included, and of the base rate known at the time; null without any or where a rate is unknown. */
  brier: { n: number; model: number; climatology: number } | null;
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
    dedupedInterval95: share.independent === 0 ? null : wilsonInterval(share.independentWins, share.independent),
    accuracyInterval95: share.interval95,
    alwaysUpAccuracy: computeAccuracy(calls.map(({ scored }) => (scored?.rose ? 'WIN' : 'LOSS'))),
    streak: streaks.current ?? { count: 0, type: null },
    longestWinStreak: streaks.longestWin,
    brier: compareBrier(rows),
    verdict: formatRecordVerdict(calls, { share, holds, horizonDays, resolved: rows.flatMap(({ scored }) => scored ?? []) }),
  };
}

/** Brier score of P(up), and of the base rate known at the time on the same days. */
export function compareBrier(rows: readonly Pick<RecordRow, 'scored'>[]): RecordSummary['brier'] {
  const scored = rows.flatMap((row) => row.scored ?? []);
  if (scored.length === 0 || scored.some(({ climatology }) => climatology === null)) return null;
  const score = (probability: (forecast: ScoredForecast) => number) => meanBy(scored, (one) => brierScore(probability(one), one.rose));
  return { n: scored.length, model: score(({ pUp }) => pUp), climatology: score(({ climatology }) => climatology!) };
}
