import { formatHorizonName } from '../../forecast/model.ts';
import { toPublishedSummary } from '../../forecast/statistics/published-summary.ts';
import { computeRecordStatistics, type RecordStatistics } from '../../forecast/statistics/record-statistics.ts';
import { type RecordSummary, summarizeRecord } from '../../forecast/statistics/record-summary.ts';
import type { ScoredForecast } from '../../forecast/statistics/scored-forecast.ts';
import type { RecordRow } from '../../forecast/statistics/win-rate.ts';
import { type AuditedRow, toRecordRow } from '../checks/audited-row.ts';
import type { BaseRates } from '../prices/base-rates.ts';

/** The figures of one horizon by the audit's own reckoning. */
export interface RecomputedFigures {
  horizonDays: number;
  rows: RecordRow[];
  summary: RecordSummary;
  statistics: RecordStatistics;
}

/** Summary and statistics of rows of one horizon, in the order of their sequence. */
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

/** Without rows of a day that was there before, which have been named: statistics are of one forecast a day. */
function keepFirstOfDay(rows: readonly RecordRow[]): RecordRow[] {
  const kept: RecordRow[] = [];
  for (const row of rows) if (row.day > (kept.at(-1)?.day ?? Number.NEGATIVE_INFINITY)) kept.push(row);
  return kept;
}

/** The figures as the service spells them, those left out that chain and prices do not tell. */
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

/** The line of a horizon beside the others, in short. */
export function buildHorizonFigures({ horizonDays, summary, statistics }: RecomputedFigures) {
  const { totalPredictions: total, resolved, wins, accuracy, dedupedTotal, accuracyInterval95, verdict } = summary;
  const { holds, voids, missed, pending } = summary;
  const { effectiveN } = statistics.calls;
  const scored = { resolved, wins, accuracy, effectiveN, dedupedTotal, accuracyInterval95, brier: getComparableBrier(summary, statistics) };
  return { horizon: formatHorizonName(horizonDays), total, ...scored, holds, voids, missed, pending, verdict };
}

/** What it takes the base rate to know is left out where that is not known. */
function getComparableBrier({ brier }: RecordSummary, { probabilities }: RecordStatistics) {
  if (brier !== null || probabilities === null) return brier;
  return { n: probabilities.n, model: probabilities.brier };
}

function omitUnknownSkill({ climatologySkill, ...probabilities }: NonNullable<RecordStatistics['probabilities']>) {
  return climatologySkill === null ? probabilities : { ...probabilities, climatologySkill };
}
