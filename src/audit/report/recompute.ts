import { formatHorizonName } from '../../forecast/model.ts';
import { toPublishedSummary } from '../../forecast/statistics/published-summary.ts';
import { computeRecordStatistics, type RecordStatistics } from '../../forecast/statistics/record-statistics.ts';
import { type RecordSummary, summarizeRecord } from '../../forecast/statistics/record-summary.ts';
import type { ScoredForecast } from '../../forecast/statistics/scored-forecast.ts';
import type { RecordRow } from '../../forecast/statistics/win-rate.ts';
import { type AuditedRow, toRecordRow } from '../checks/audited-row.ts';
import type { BaseRates } from '../prices/base-rates.ts';

/** Recomputed figures of one horizon. */
export interface RecomputedFigures {
  horizonDays: number;
  rows: RecordRow[];
  summary: RecordSummary;
  statistics: RecordStatistics;
}

/** Computes summary and statistics of the rows of one horizon, ordered by sequence. */
export function recompute(rows: readonly RecordRow[], horizonDays: number): RecomputedFigures {
  const ascending = keepFirstOfDay(rows);
  const scored = ascending.flatMap((row): ScoredForecast[] => (row.scored === null ? [] : [row.scored]));
  return {
    horizonDays,
    rows: [...rows],
    summary: summarizeRecord(ascending, horizonDays),
    statistics: computeRecordStatistics(scored, horizonDays),
  };
}

export function toRecordRows(rows: readonly AuditedRow[], baseRates: BaseRates): RecordRow[] {
  return rows.map((row) => toRecordRow(row, baseRates(row.prediction.data.day, row.prediction.data.horizonDays)));
}

/** Statistics require one forecast per day; `checkSequences` has reported the others. */
function keepFirstOfDay(rows: readonly RecordRow[]): RecordRow[] {
  const kept: RecordRow[] = [];
  for (const row of rows) if (row.day > (kept.at(-1)?.day ?? Number.NEGATIVE_INFINITY)) kept.push(row);
  return kept;
}

/** The figures in the service's format, without those that chain and prices do not determine. */
export function buildExpectedFigures({ summary, statistics }: RecomputedFigures) {
  const { longestWinStreak, ...figures } = summary;
  const { brier: _, ...counts } = toPublishedSummary(figures);
  const { probabilities, calls } = statistics;
  const publishedSummary = { ...counts, brier: getComparableBrier(summary, statistics) };
  return {
    summary: publishedSummary,
    stats: {
      total: summary.totalPredictions,
      scored: counts.scored,
      wins: summary.wins,
      losses: summary.losses,
      accuracy: counts.accuracy,
      currentStreak: summary.streak.type === 'WIN' ? summary.streak.count : 0,
      longestStreak: longestWinStreak,
    },
    statistics: { calls, probabilities: probabilities === null ? null : omitUnknownSkill(probabilities) },
  };
}

/** One entry of `byHorizon`. */
export function buildHorizonFigures({ horizonDays, summary, statistics }: RecomputedFigures) {
  const { totalPredictions: total, resolved, wins, accuracy, dedupedTotal, accuracyInterval95, verdict } = summary;
  const { holds, voids, missed, pending } = summary;
  const { effectiveN } = statistics.calls;
  const scored = { resolved, wins, accuracy, effectiveN, dedupedTotal, accuracyInterval95, brier: getComparableBrier(summary, statistics) };
  return { horizon: formatHorizonName(horizonDays), total, ...scored, holds, voids, missed, pending, verdict };
}

/** Omits the figures that need an unknown base rate. */
function getComparableBrier({ brier }: RecordSummary, { probabilities }: RecordStatistics) {
  if (brier !== null || probabilities === null) return brier;
  return { n: probabilities.n, model: probabilities.brier };
}

function omitUnknownSkill({ climatologySkill, ...probabilities }: NonNullable<RecordStatistics['probabilities']>) {
  return climatologySkill === null ? probabilities : { ...probabilities, climatologySkill };
}
