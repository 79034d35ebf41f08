import { publishHorizonRow } from '../../forecast/statistics/published-summary.ts';
import { summarizeRecord } from '../../forecast/statistics/record-summary.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { computeForecastBrier, computeForecastWinRate, toSummaryRow } from '../scorecard/scorecard.ts';

export type ShareRow = ReturnType<typeof buildShareRow>;

export type HorizonRow = ReturnType<typeof buildHorizonRow>;

export function buildShareRow(docs: readonly ForecastDoc[], horizonDays: number) {
  const { n: resolved, independent: dedupedTotal, interval95: accuracyInterval95, ...share } = computeForecastWinRate(docs, horizonDays);
  const { wins, accuracy, effectiveN } = share;
  return { total: docs.length, resolved, wins, accuracy, effectiveN, dedupedTotal, accuracyInterval95, brier: computeForecastBrier(docs) };
}

export function buildHorizonRow(docs: readonly ForecastDoc[], horizonDays: number) {
  const summary = summarizeRecord(docs.map(toSummaryRow), horizonDays);
  return publishHorizonRow(horizonDays, summary, computeForecastWinRate(docs, horizonDays).effectiveN);
}

export function groupByRegime(docs: readonly ForecastDoc[], horizonDays: number) {
  return [...Map.groupBy(docs, ({ regime }) => regime)]
    .map(([regime, of]) => ({ regime, ...buildShareRow(of, horizonDays) }))
    .toSorted((a, b) => b.total - a.total || (String(a.regime) < String(b.regime) ? -1 : 1));
}

/** Newest model first; expects forecasts in sequence order. */
export function groupByModelVersion(docs: readonly ForecastDoc[], horizonDays: number) {
  return [...Map.groupBy(docs, ({ modelVersion }) => modelVersion)]
    .map(([modelVersion, of]) => ({ modelVersion, ...buildShareRow(of, horizonDays) }))
    .toReversed();
}
