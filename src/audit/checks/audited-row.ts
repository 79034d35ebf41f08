import { zeroHash } from 'viem';
import type { Day } from '../../forecast/day.ts';
import type { ScoredForecast } from '../../forecast/statistics/scored-forecast.ts';
import type { RecordRow, RecordStatus } from '../../forecast/statistics/win-rate.ts';
import type { Prediction, Revelation } from '../chain/chain-record.ts';

/** What came of a forecast by the audit's own reckoning. Prices in US cents. */
export interface AuditedOutcome {
  fromCents: number;
  toCents: number;
  returnBps: number;
  rose: boolean;
}

/** One forecast, as far as chain and prices prove it. */
export interface AuditedRow {
  prediction: Prediction;
  /** Nothing was forecast: the commitment is zero. */
  missed: boolean;
  /** Not on chain before its window opened. */
  late: boolean;
  /** The first resolution of it; null before. */
  revelation: Revelation | null;
  /** What was revealed is what was committed. */
  opened: boolean;
  /** Null until it is proven. */
  outcome: AuditedOutcome | null;
  status: RecordStatus;
}

export function isMissedPrediction({ data }: Prediction): boolean {
  return data.commitment === zeroHash;
}

export function isLatePrediction({ at, data }: Prediction): boolean {
  return at >= data.windowOpensAt;
}

/** The days whose closes decide a forecast: that before its window, and that before its end. */
export function getCloseDays({ data: { day, horizonDays } }: Prediction): { from: Day; to: Day } {
  return { from: day, to: day + horizonDays };
}

/** Rounded to the basis point. */
export function computeReturnBps(from: number, to: number): number {
  return Math.round((to / from - 1) * 10_000);
}

/** A row as the statistics read it. @param climatology the base rate known at the time; null where it cannot be told */
export function toRecordRow(row: AuditedRow, climatology: number | null): RecordRow {
  const { prediction, status, missed } = row;
  return { day: prediction.data.day, status, missed, scored: toScoredForecast(row, climatology) };
}

function toScoredForecast({ prediction, revelation, outcome, opened }: AuditedRow, climatology: number | null): ScoredForecast | null {
  if (revelation === null || outcome === null || !opened) return null;
  const { signal, direction, pUpBps } = revelation.data;
  return {
    day: prediction.data.day,
    call: signal === 'HOLD' ? null : direction,
    rose: outcome.rose,
    pUp: pUpBps / 10_000,
    climatology,
    distribution: null,
  };
}
