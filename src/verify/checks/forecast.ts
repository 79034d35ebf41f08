import type { RecordStatus } from '../../forecast/statistics/win-rate.ts';
import type { Prediction, PriceEvidence, Resolution } from '../evidence.ts';
import type { Findings } from '../findings.ts';
import { isLatePrediction, isMissedPrediction } from './prediction.ts';
import { type CheckedOutcome, checkOutcome, computeStatus } from './prices.ts';
import { checkResolution, checkRevealDue, checkVoid } from './resolution.ts';

/** One forecast as proven by chain and prices. */
export interface CheckedRow {
  prediction: Prediction;
  /** Zero commitment: nothing was forecast. */
  missed: boolean;
  /** Not on chain before its window opened. */
  late: boolean;
  /** The first resolution; null before. */
  resolution: Resolution | null;
  /** The revealed salt and values open the commitment. */
  opened: boolean;
  /** Null before the resolution. */
  outcome: CheckedOutcome | null;
  status: RecordStatus;
}

export interface ForecastContext {
  /** Undefined: closes are not part of this check. */
  prices?: PriceEvidence | undefined;
  now: Date;
  findings: Findings;
}

/** A row without a valid resolution. */
export function toUnresolvedRow(prediction: Prediction): CheckedRow {
  const [missed, late] = [isMissedPrediction(prediction), isLatePrediction(prediction)];
  const status = missed || late ? 'VOID' : 'PENDING';
  return { prediction, missed, late, resolution: null, opened: false, outcome: null, status };
}

/** Checks the resolution of a forecast, or its absence, and recomputes the outcome. */
export function checkForecast(
  prediction: Prediction,
  resolution: Resolution | null,
  { prices, now, findings }: ForecastContext,
): CheckedRow {
  const row = { ...toUnresolvedRow(prediction), resolution };
  if (row.status === 'VOID') {
    checkVoid(prediction, resolution !== null, findings);
    return row;
  }
  if (resolution === null) {
    checkRevealDue(prediction, prices, now, findings);
    return row;
  }
  const opened = checkResolution(prediction, resolution, findings);
  const outcome = checkOutcome(prediction, resolution, prices, findings);
  const status = opened ? computeStatus(resolution.data, outcome.fromCents, outcome.toCents) : 'PENDING';
  return { ...row, opened, outcome, status };
}
