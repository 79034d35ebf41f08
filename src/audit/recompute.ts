import { horizonName } from '../forecast/model.ts';
import { toPublishedSummary } from '../forecast/statistics/published-summary.ts';
import { type RecordStatistics, recordStatistics } from '../forecast/statistics/record-statistics.ts';
import { type RecordRow, type RecordSummary, recordSummary } from '../forecast/statistics/record-summary.ts';
import type { ScoredForecast } from '../forecast/statistics/scored-forecast.ts';
import type { BaseRates } from './base-rates.ts';
import { type AuditedRow, recordRowOf } from './rows.ts';

/** The figures of one horizon by the audit's own reckoning. */
export interface Recomputed {
  horizonDays: number;
  rows: RecordRow[];
  summary: RecordSummary;
  statistics: RecordStatistics;
}

/** Summary and statistics of rows of one horizon, in the order of their sequence. */
export function recompute(rows: readonly RecordRow[], horizonDays: number): Recomputed {
  const ascending = inOrder(rows);
  const scored = ascending.flatMap((row): ScoredForecast[] => (row.scored === null ? [] : [row.scored]));
  return {
    horizonDays,
    rows: [...rows],
    summary: recordSummary(ascending, horizonDays),
    statistics: recordStatistics(scored, horizonDays),
  };
}

export function recordRowsOf(rows: readonly AuditedRow[], baseRates: BaseRates): RecordRow[] {
  return rows.map((row) => recordRowOf(row, baseRates(row.prediction.data.day, row.prediction.data.horizonDays)));
}

/** Without rows of a day that was there before, which have been named: statistics are of one forecast a day. */
function inOrder(rows: readonly RecordRow[]): RecordRow[] {
  const kept: RecordRow[] = [];
  for (const row of rows) if (row.day > (kept.at(-1)?.day ?? Number.NEGATIVE_INFINITY)) kept.push(row);
  return kept;
}

/** The figures as the service spells them, those left out that chain and prices do not tell. */
export function expectedFigures({ summary, statistics }: Recomputed) {
  const { longestWinStreak, ...figures } = summary;
  const { brier: _, ...counts } = toPublishedSummary(figures);
  const { probabilities, calls } = statistics;
  const told = { ...counts, brier: brierOf(summary, statistics) };
  return {
    summary: told,
    stats: {
      total: summary.totalPredictions,
      scored: counts.scored,
      wins: summary.wins,
      losses: summary.losses,
      accuracy: counts.accuracy,
      currentStreak: summary.streak.type === 'WIN' ? summary.streak.count : 0,
      longestStreak: longestWinStreak,
    },
    statistics: { calls, probabilities: probabilities === null ? null : withoutUnknown(probabilities) },
  };
}

/** The line of a horizon beside the others, in short. */
export function horizonFigures({ horizonDays, summary, statistics }: Recomputed) {
  const { totalPredictions: total, resolved, wins, accuracy, dedupedTotal, accuracyInterval95, verdict } = summary;
  const { holds, voids, missed, pending } = summary;
  const { effectiveN } = statistics.calls;
  const scored = { resolved, wins, accuracy, effectiveN, dedupedTotal, accuracyInterval95, brier: brierOf(summary, statistics) };
  return { horizon: horizonName(horizonDays), total, ...scored, holds, voids, missed, pending, verdict };
}

/** What it takes the base rate to know is left out where that is not known. */
function brierOf({ brier }: RecordSummary, { probabilities }: RecordStatistics) {
  if (brier !== null || probabilities === null) return brier;
  return { n: probabilities.n, model: probabilities.brier };
}

function withoutUnknown({ climatologySkill, ...probabilities }: NonNullable<RecordStatistics['probabilities']>) {
  return climatologySkill === null ? probabilities : { ...probabilities, climatologySkill };
}
