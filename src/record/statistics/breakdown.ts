import { formatHorizonName, type HorizonName } from '../../forecast/model.ts';
import type { Regime } from '../../forecast/regime/regime.ts';
import type { Interval } from '../../forecast/scoring.ts';
import type { RecordSummary } from '../../forecast/statistics/record-summary.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { computeForecastBrier, computeForecastWinRate, summarizeForecasts } from '../scorecard/scorecard.ts';

/** What a part of a record is worth, in short. Shares 0 to 1. */
export interface ShareRow {
  /** Forecasts, whatever became of them. */
  total: number;
  resolved: number;
  wins: number;
  accuracy: number | null;
  /** How many independent calls the resolved ones are worth. */
  effectiveN: number;
  dedupedTotal: number;
  accuracyInterval95: Interval | null;
  brier: RecordSummary['brier'];
}

export interface RegimeRow extends ShareRow {
  /** Null for days on which nothing was forecast. */
  regime: Regime | null;
}

export interface ModelVersionRow extends ShareRow {
  /** Null for days on which nothing was forecast. */
  modelVersion: string | null;
}

export interface HorizonRow extends ShareRow, Pick<RecordSummary, 'holds' | 'voids' | 'missed' | 'pending' | 'verdict'> {
  horizon: HorizonName;
}

/** Forecasts of one horizon in short. */
export function buildShareRow(docs: readonly ForecastDoc[], horizonDays: number): ShareRow {
  const { n: resolved, independent: dedupedTotal, interval95: accuracyInterval95, ...share } = computeForecastWinRate(docs, horizonDays);
  const { wins, accuracy, effectiveN } = share;
  return { total: docs.length, resolved, wins, accuracy, effectiveN, dedupedTotal, accuracyInterval95, brier: computeForecastBrier(docs) };
}

/** The same with what was not scored, and in words. */
export function buildHorizonRow(docs: readonly ForecastDoc[], horizonDays: number): HorizonRow {
  const { holds, voids, missed, pending, verdict } = summarizeForecasts(docs, horizonDays);
  return { horizon: formatHorizonName(horizonDays), ...buildShareRow(docs, horizonDays), holds, voids, missed, pending, verdict };
}

/** Forecasts of one horizon by market regime, the most frequent first. */
export function groupByRegime(docs: readonly ForecastDoc[], horizonDays: number): RegimeRow[] {
  return [...Map.groupBy(docs, ({ regime }) => regime)]
    .map(([regime, of]) => ({ regime, ...buildShareRow(of, horizonDays) }))
    .toSorted((a, b) => b.total - a.total || (String(a.regime) < String(b.regime) ? -1 : 1));
}

/** Forecasts of one horizon, given in the order of their sequence, by the model that made them, the newest first. */
export function groupByModelVersion(docs: readonly ForecastDoc[], horizonDays: number): ModelVersionRow[] {
  return [...Map.groupBy(docs, ({ modelVersion }) => modelVersion)]
    .map(([modelVersion, of]) => ({ modelVersion, ...buildShareRow(of, horizonDays) }))
    .toReversed();
}
