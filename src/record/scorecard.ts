import type { z } from 'zod';
import { PUBLIC_CALLER } from '../auth/caller.ts';
import { compareBrier } from '../forecast/record-statistics.ts';
import { REGIMES } from '../forecast/regime.ts';
import { computeWinRate, type RecordRow, type ScoredForecast } from '../forecast/statistics.ts';
import { roundTo } from '../platform/validation.ts';
import type { ForecastDoc } from './forecast-doc.ts';
import type { ENTRY, ROW } from './schemas/track-record.ts';
import {
  type ForecastView,
  mayReadQuantiles,
  toCommittedProbabilities,
  toPublicStatus,
  type ViewOptions,
  viewForecast,
} from './visibility.ts';

/** One forecast of the scorecard: the fields of both shapes of the interface, section 2.3, where they do not clash. */
type ScorecardEntry = z.input<typeof ENTRY>;

type ScorecardRow = z.input<typeof ROW>;

/** @param newest forecasts of a page, newest first, and the one after it where there is one */
export function buildScorecardPage(newest: readonly ForecastDoc[], limit: number, options: ViewOptions) {
  const shown = newest.slice(0, limit);
  return {
    predictions: shown.map((doc) => toScorecardEntry(doc, options)),
    nextBefore: newest.length > limit ? (shown.at(-1)?.sequence ?? null) : null,
  };
}

export function computeForecastWinRate(docs: readonly ForecastDoc[], horizonDays: number) {
  return computeWinRate(docs.map(toSummaryRow), horizonDays);
}

export function computeForecastBrier(docs: readonly ForecastDoc[]) {
  return compareBrier(docs.map((doc) => ({ scored: toScoredForecast(doc) })));
}

/** Of revealed forecasts, which are the same for every caller. Documents are never changed in place. */
const revealedRows = new WeakMap<ForecastDoc, ScorecardRow>();

/** The rows of all forecasts of a horizon, newest first. */
export function listScorecardRows(docs: readonly ForecastDoc[], options: ViewOptions): ScorecardRow[] {
  return docs.toReversed().map((doc) => {
    if (doc.reveal === null) return toScorecardRow(doc, options);
    const row = revealedRows.get(doc) ?? toScorecardRow(doc, { ...options, caller: PUBLIC_CALLER });
    revealedRows.set(doc, row);
    return row;
  });
}

function toScorecardRow(doc: ForecastDoc, options: ViewOptions): ScorecardRow {
  const view = viewForecast(doc, options);
  const { date, predictionId, sequence, signal, direction, confidence, btcPrice, status } = view;
  const { btcAtSignal, btcAtResolution, resolvedAt, replayed } = view;
  return {
    ...{ date, predictionId, sequence, signal, direction, confidence, btcPrice, status, outcome: toOutcome(view) },
    ...{ btcAtSignal, btcAtResolution, resolvedAt, replayed },
  };
}

function toOutcome({ returnBps, actualDirection, correct }: ForecastView): ScorecardRow['outcome'] {
  if (returnBps === null || actualDirection === null || correct === null) return null;
  return { actualReturn: returnBps / 10_000, actualDirection, correct };
}

export function toScorecardEntry(doc: ForecastDoc, options: ViewOptions): ScorecardEntry {
  const whole = viewForecast(doc, options);
  const { result, actualDirection, correct, ...view } = whole;
  const quantiles = doc.values !== null && mayReadQuantiles(doc, options) ? doc.values.priceQuantiles : null;
  return {
    ...view,
    band80: quantiles && {
      low: roundTo(quantiles.p10, 2),
      median: roundTo(quantiles.p50, 2),
      high: roundTo(quantiles.p90, 2),
    },
    riskLevel: view.regime === null ? null : REGIMES[view.regime].riskLevel,
    outcome: toOutcome(whole),
    attestationUid: doc.attestation?.uid ?? null,
    resolutionUid: doc.reveal?.uid ?? null,
  };
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
    climatology4y: values.climatology4y ?? null,
    distribution: null,
  };
}
