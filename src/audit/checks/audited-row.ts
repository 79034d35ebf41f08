import { zeroHash } from 'viem';
import type { Day } from '../../forecast/day.ts';
import type { ScoredForecast } from '../../forecast/statistics/scored-forecast.ts';
import type { RecordRow, RecordStatus } from '../../forecast/statistics/win-rate.ts';
import type { Prediction, Revelation } from '../chain/chain-record.ts';

/** The recomputed outcome of a forecast. */
export interface AuditedOutcome {
  fromCents: number;
  toCents: number;
  returnBps: number;
  rose: boolean;
}

/** One forecast as proven by chain and prices. */
export interface AuditedRow {
  prediction: Prediction;
  /** Zero commitment: nothing was forecast. */
  missed: boolean;
  /** Not on chain before its window opened. */
  late: boolean;
  /** The first resolution; null before. */
  revelation: Revelation | null;
  /** The revealed salt and values open the commitment. */
  opened: boolean;
  /** Null before the resolution. */
  outcome: AuditedOutcome | null;
  status: RecordStatus;
}

export function isMissedPrediction({ data }: Prediction): boolean {
  return data.commitment === zeroHash;
}

export function isLatePrediction({ at, data }: Prediction): boolean {
  return at >= data.windowOpensAt;
}

/** The days whose closes decide a forecast: the day before its window, and the window's last day. */
export function getCloseDays({ data: { day, horizonDays } }: Prediction): { from: Day; to: Day } {
  return { from: day, to: day + horizonDays };
}

/** Rounded to the basis point. */
export function computeReturnBps(from: number, to: number): number {
  return Math.round((to / from - 1) * 10_000);
}

/** Input of the statistics. `climatology` is the base rate known at the time; null where the prices do not provide it. */
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
