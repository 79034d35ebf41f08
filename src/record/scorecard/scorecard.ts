import type { z } from 'zod';
import { REGIMES } from '../../forecast/regime/regime.ts';
import { publishRecordSummary } from '../../forecast/statistics/published-summary.ts';
import { compareBrier, type RecordSummary, summarizeRecord } from '../../forecast/statistics/record-summary.ts';
import type { ScoredForecast } from '../../forecast/statistics/scored-forecast.ts';
import { computeWinRate, type RecordRow, type WinRate } from '../../forecast/statistics/win-rate.ts';
import { roundTo } from '../../platform/round.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { mayReadQuantiles, toCommittedProbabilities, toPublicStatus, type ViewOptions, viewForecast } from '../forecast-visibility.ts';
import type { ENTRY, ScorecardReply } from '../schemas/scorecard.ts';

/** One forecast of the scorecard: the fields of both shapes of the interface, section 2.3, where they do not clash. */
export type ScorecardEntry = z.input<typeof ENTRY>;

/** The longest streak is part of the statistics instead. */
export type ScorecardSummary = Omit<RecordSummary, 'longestWinStreak'>;

export interface Scorecard extends Pick<ScorecardReply, 'summary' | 'stats' | 'predictions'> {
  nextBefore: number | null;
}

/** @param newest forecasts of a page, newest first, and the one after it where there is one */
export function buildScorecard(
  summary: RecordSummary,
  { newest, limit }: { newest: readonly ForecastDoc[]; limit: number },
  options: ViewOptions,
): Scorecard {
  const shown = newest.slice(0, limit);
  return {
    ...publishRecordSummary(summary),
    predictions: shown.map((doc) => toScorecardEntry(doc, options)),
    nextBefore: newest.length > limit ? (shown.at(-1)?.sequence ?? null) : null,
  };
}

export function summarizeForecasts(docs: readonly ForecastDoc[], horizonDays: number): ScorecardSummary {
  const { longestWinStreak, ...summary } = summarizeRecord(docs.map(toSummaryRow), horizonDays);
  return summary;
}

export function computeForecastWinRate(docs: readonly ForecastDoc[], horizonDays: number): WinRate {
  return computeWinRate(docs.map(toSummaryRow), horizonDays);
}

export function computeForecastBrier(docs: readonly ForecastDoc[]): ScorecardSummary['brier'] {
  return compareBrier(docs.map((doc) => ({ scored: toScoredForecast(doc) })));
}

export function toScorecardEntry(doc: ForecastDoc, options: ViewOptions): ScorecardEntry {
  const { result, actualDirection, correct, ...view } = viewForecast(doc, options);
  const outcome =
    view.returnBps === null || actualDirection === null || correct === null
      ? null
      : { actualReturn: view.returnBps / 10_000, actualDirection, correct };
  return {
    ...view,
    band80: toPriceBand(doc, options),
    riskLevel: view.regime === null ? null : REGIMES[view.regime].riskLevel,
    outcome,
    attestationUid: doc.attestation?.uid ?? null,
    resolutionUid: doc.reveal?.uid ?? null,
  };
}

function toPriceBand(doc: ForecastDoc, options: ViewOptions): ScorecardEntry['band80'] {
  if (doc.values === null || !mayReadQuantiles(doc, options)) return null;
  const { p10, p50, p90 } = doc.values.priceQuantiles;
  return { low: roundTo(p10, 2), median: roundTo(p50, 2), high: roundTo(p90, 2) };
}

export function toSummaryRow(doc: ForecastDoc): RecordRow {
  return { day: doc.day, status: toPublicStatus(doc), missed: doc.missed, scored: toScoredForecast(doc) };
}

/** Null until the outcome is on chain. */
export function toScoredForecast({ day, values, resolution, reveal }: ForecastDoc): ScoredForecast | null {
  if (reveal === null || resolution === null || values === null) return null;
  return {
    day,
    call: values.signal === 'HOLD' ? null : values.direction,
    rose: resolution.actualDirection === 'UP',
    pUp: toCommittedProbabilities(values).pUp,
    climatology: values.climatology,
    distribution: null,
  };
}
