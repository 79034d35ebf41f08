import type { BaseRates } from '../../forecast/fit/base-rates.ts';
import { selectNonOverlapping } from '../../forecast/scoring.ts';
import { publishHorizonRow, publishRecordSummary } from '../../forecast/statistics/published-summary.ts';
import { computeRecordStatistics, type RecordStatistics } from '../../forecast/statistics/record-statistics.ts';
import { type RecordSummary, summarizeRecord } from '../../forecast/statistics/record-summary.ts';
import type { RecordRow } from '../../forecast/statistics/win-rate.ts';
import type { CheckedRow } from './forecast.ts';

/** Recomputed figures of one horizon. */
export type RecomputedFigures = ReturnType<typeof recompute>;

/** Computes summary and statistics of the rows of one horizon, ordered by sequence; `checkSequences` has reported a second row of a day. */
export function recompute(rows: readonly RecordRow[], horizonDays: number) {
  const ascending = selectNonOverlapping(rows, 1);
  const scored = ascending.flatMap((row) => row.scored ?? []);
  return {
    horizonDays,
    rows: [...rows],
    summary: summarizeRecord(ascending, horizonDays),
    statistics: computeRecordStatistics(scored, horizonDays),
  };
}

/** Input of the statistics, with the base rate known at the time; null where the prices do not provide it. */
export function toRecordRows(rows: readonly CheckedRow[], baseRates: BaseRates): RecordRow[] {
  return rows.map(({ prediction, resolution, outcome, opened, status, missed }) => {
    const { day, horizonDays } = prediction.data;
    if (resolution === null || outcome === null || !opened) return { day, status, missed, scored: null };
    const { signal, direction, pUpBps } = resolution.data;
    const call = { call: signal === 'HOLD' ? null : direction, rose: outcome.rose, pUp: pUpBps / 10_000 };
    return { day, status, missed, scored: { day, ...call, climatology: baseRates(day, horizonDays), distribution: null } };
  });
}

/** The figures in the service's format; undefined where chain and prices do not determine them. */
export function buildExpectedFigures({ summary, statistics }: RecomputedFigures) {
  const { calls, probabilities } = statistics;
  const published = publishRecordSummary(summary);
  const known = probabilities && { ...probabilities, climatologySkill: probabilities.climatologySkill ?? undefined };
  const expected = { ...published.summary, brier: getDeterminedBrier(summary, statistics) };
  return { ...published, summary: expected, statistics: { calls, probabilities: known, distribution: undefined } };
}

/** One entry of `byHorizon`. */
export function buildHorizonFigures({ horizonDays, summary, statistics }: RecomputedFigures) {
  const row = publishHorizonRow(horizonDays, summary, statistics.calls.effectiveN);
  return { ...row, brier: getDeterminedBrier(summary, statistics) };
}

/** Prices that do not reach back far enough leave the base rate undetermined. */
function getDeterminedBrier({ brier }: RecordSummary, { probabilities }: RecordStatistics) {
  return brier ?? (probabilities && { n: probabilities.n, model: probabilities.brier, climatology: undefined });
}
