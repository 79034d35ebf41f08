import type { CommitmentOpening } from '../../chain/eas/commitment.ts';
import type { RecordStatus } from '../../forecast/statistics/win-rate.ts';
import { isUnread, type Prediction, type PriceEvidence, type Resolution, type Unread } from '../evidence.ts';
import type { Findings } from '../findings.ts';
import { isLatePrediction, isMissedPrediction, toSubject } from './prediction.ts';
import { type CheckedOutcome, checkOutcome, computeStatus } from './prices.ts';
import { checkOpening, checkResolution, checkRevealDue, checkVoid } from './resolution.ts';

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
  prices?: PriceEvidence | Unread | undefined;
  /** Salt and values that the service returns before they are on chain; undefined: they are not part of this check. */
  opening?: CommitmentOpening | Unread | undefined;
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
export function checkForecast(prediction: Prediction, resolution: Resolution | null, context: ForecastContext): CheckedRow {
  const { prices, opening, now, findings } = context;
  const row = { ...toUnresolvedRow(prediction), resolution };
  if (opening !== undefined) checkServedOpening(prediction, opening, findings);
  if (row.status === 'VOID') {
    checkVoid(prediction, resolution !== null, findings);
    return row;
  }
  if (resolution === null) {
    checkRevealDue(prediction, isUnread(prices) ? undefined : prices, now, findings);
    return row;
  }
  const opened = checkResolution(prediction, resolution, findings);
  const outcome = checkOutcome(prediction, resolution, prices, findings);
  const status = opened ? computeStatus(resolution.data, outcome.fromCents, outcome.toCents) : 'PENDING';
  return { ...row, opened, outcome, status };
}

/** Checks salt and values that the service returns before they are on chain. */
export function checkServedOpening(prediction: Prediction, opening: CommitmentOpening | Unread, findings: Findings): void {
  if (isMissedPrediction(prediction)) return;
  const subject = toSubject(prediction);
  if (isUnread(opening)) findings.leave('opening', subject, opening.problem, false);
  else checkOpening(subject, { commitment: prediction.data.commitment, opening }, findings);
}
