import type { CommitmentOpening } from '../chain/eas/commitment.ts';
import { checkAttestation } from './checks/attestation.ts';
import { checkForecast } from './checks/forecast.ts';
import { checkInTime, checkMetadata, checkOnePrediction, checkWindow, toSubject } from './checks/prediction.ts';
import { matchResolutions } from './checks/resolution.ts';
import { checkPosition, checkRowBefore, type ListedRow, type RowNeighbours } from './claims/position.ts';
import { compareRow } from './claims/rows.ts';
import { type AttestationEvidence, type CheckContext, isUnread, type Prediction, type PriceEvidence, type Unread } from './evidence.ts';
import { type Findings, NO_SUBJECT } from './findings.ts';
import { formatInstant } from './format-instant.ts';

/** Predictions of the wallet in a search around a forecast. */
export interface RivalSearch {
  committed: readonly Prediction[];
  /** Time of the first block that was searched, and of the newest block of the chain. */
  since: Date;
  newest: Date;
  /** The limit on predictions that was exceeded, in which case none was read. */
  tooMany?: number;
}

/** Evidence about one row of a scorecard. */
export interface RowEvidence {
  row: ListedRow;
  /** Days of the list that shows it. */
  horizon: number;
  neighbours: RowNeighbours;
  /** Null: the row names none. */
  prediction: AttestationEvidence<'prediction'> | null;
  resolution: AttestationEvidence<'resolution'> | null;
  /** Attestation of the row before. */
  previous: AttestationEvidence<'prediction'> | null;
  rivals: RivalSearch | Unread;
  /** Salt of an unresolved call for readers who may see it. */
  salt: string | null;
  metadata: Uint8Array | Unread;
}

const NO_PRICES: PriceEvidence = { source: 'no prices', toleranceBps: 0, endsOn: null, closes: new Map() };

/** Checks a row of a scorecard against the chain. */
export function checkRow(evidence: RowEvidence, context: CheckContext, findings: Findings): void {
  const { row, neighbours, prediction: named } = evidence;
  if (named === null) {
    reportNotOnChain(row, context.now, findings);
    return;
  }
  checkPosition(row, evidence.horizon, neighbours, findings);
  const prediction = checkAttestation(named, context, findings);
  if (prediction === null) return;
  findings.compare('row', toSubject(prediction), { field: 'horizon', expected: `${prediction.data.horizonDays}d`, actual: row.horizon });
  checkWindow(prediction, findings);
  checkInTime(prediction, row.status === 'VOID', findings);
  checkRowBefore(prediction, { before: neighbours.before, previous: evidence.previous }, context, findings);
  checkRivals(prediction, evidence.rivals, findings);
  checkMetadata(prediction, evidence.metadata, findings);
  const revealed = evidence.resolution === null ? null : checkAttestation(evidence.resolution, context, findings);
  if (evidence.resolution !== null && revealed === null) return;
  const resolution = revealed === null ? null : (matchResolutions([prediction], [revealed], findings).get(prediction.uid) ?? null);
  const opening = resolution === null ? getShownOpening(evidence) : undefined;
  const checked = checkForecast(prediction, resolution, { opening, now: context.now, findings });
  compareRow(checked, { ...row, btcAtSignal: row.provisional ? null : row.btcAtSignal }, { prices: NO_PRICES, findings });
  if (resolution === null && row.btcAtSignal !== null && !row.provisional) {
    findings.leave('price', toSubject(prediction), 'the close at window open is not on chain before the resolution', false);
  }
}

/** A row without an attestation cannot be checked, unless it claims an outcome. */
function reportNotOnChain({ sequence, windowOpensAt, ...row }: ListedRow, now: Date, findings: Findings): void {
  const subject = { ...NO_SUBJECT, attestation: 'prediction' as const, sequence };
  const figures = [row.outcome, row.btcAtResolution, row.returnBps, row.resolvedAt, row.resolutionUid];
  const claimsOutcome = row.resolved || figures.some((figure) => figure !== null) || !['PENDING', 'VOID'].includes(row.status);
  const because = 'the service claims an outcome, and names no attestation of the forecast';
  if (claimsOutcome) findings.fail('shown', subject, { field: 'row', expected: 'on chain', actual: row.status, because });
  const opens = Date.parse(windowOpensAt);
  const when = formatInstant(opens);
  findings.leave(
    'found',
    subject,
    now.getTime() < opens ? `it is not on chain yet and must be before ${when}` : `it is not on chain, and its window opened at ${when}`,
  );
}

/** Salt and values of an unresolved row, in units of the chain. */
function getShownOpening({ row, salt }: RowEvidence): CommitmentOpening | Unread {
  const { signal, direction, confidence, pUp, btcPrice, status } = row;
  if (direction === null)
    return { problem: status === 'VOID' ? 'a void forecast is never resolved on chain' : 'the values are hidden until the resolution' };
  if (salt === null) return { problem: 'the service returns no salt to open the commitment' };
  const values = {
    confidenceBps: toWholeUnits(confidence, 10_000),
    pUpBps: toWholeUnits(pUp, 10_000),
    btcPriceCents: toWholeUnits(btcPrice, 100),
  };
  return { salt, signal, direction, ...values } as CommitmentOpening;
}

/** NaN when the value is not a multiple of `1 / scale`. */
function toWholeUnits(value: number | null, scale: number): number {
  const whole = Math.round((value ?? Number.NaN) * scale);
  return whole / scale === value ? whole : Number.NaN;
}

/** Checks that no other prediction for the same day and horizon came in time. */
function checkRivals(prediction: Prediction, rivals: RivalSearch | Unread, findings: Findings): void {
  const subject = toSubject(prediction);
  const { windowOpensAt, day, horizonDays } = prediction.data;
  const leave = (because: string) => findings.leave('onePrediction', subject, because, false);
  if (isUnread(rivals)) {
    leave(rivals.problem);
    return;
  }
  const { committed, since, newest, tooMany } = rivals;
  if (tooMany !== undefined) {
    const because = `the wallet made more than ${tooMany} predictions around this day, too many to read each`;
    findings.fail('onePrediction', subject, {
      field: 'commitments',
      expected: `at most ${tooMany}`,
      actual: `more than ${tooMany}`,
      because,
    });
    return;
  }
  const inTime = committed.filter(({ at, data }) => at < windowOpensAt && data.day === day && data.horizonDays === horizonDays);
  if (inTime.length === 0 && prediction.at >= since && prediction.at < windowOpensAt) {
    leave('the endpoint omits this prediction from its list');
    return;
  }
  checkOnePrediction(prediction, inTime, findings);
  if (newest < windowOpensAt) leave(`another one may come before its window opens: the newest block is from ${formatInstant(newest)}`);
}
