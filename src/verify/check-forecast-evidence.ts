import { checkAttestation } from './checks/attestation.ts';
import { type CheckedRow, checkForecast, toUnresolvedRow } from './checks/forecast.ts';
import { checkInTime, checkLink, checkMetadata, checkRivals, checkWindow, toSubject } from './checks/prediction.ts';
import { matchResolutions } from './checks/resolution.ts';
import { checkFollows, checkHorizon } from './checks/sequence.ts';
import { checkClaimedOutcome, checkPosition, compareListedRow } from './claims/listed-row.ts';
import { checkRecordedPrediction, compareRecorded } from './claims/recorded.ts';
import {
  type AttestationEvidence,
  type CheckContext,
  type ForecastEvidence,
  isUnread,
  type Prediction,
  type UncommittedForecast,
} from './evidence.ts';
import { createFindings, type Findings, NO_SUBJECT } from './findings.ts';
import { formatInstant } from './format-instant.ts';

/**
 * Checks all that evidence shows about one forecast: its attestations, against each other, the records and claims of a service, and prices.
 * @returns what is proven; null when the prediction cannot be read
 */
export function checkForecastEvidence(evidence: ForecastEvidence, context: CheckContext, findings: Findings): CheckedRow | null {
  const { claimed, opening, prices, recorded, search } = evidence;
  const prediction = checkCommitment(evidence, context, findings);
  const read = evidence.resolutions.map((one) => checkAttestation(one, context, findings));
  if (prediction === null) return null;
  const resolutions = read.filter((one) => one !== null);
  const resolution = matchResolutions([prediction], resolutions, findings, search !== undefined).get(prediction.uid) ?? null;
  if (resolution === null && typeof search === 'object') findings.leave('revealed', toSubject(prediction), search.problem);
  if (resolution === null && resolutions.length < read.length) return toUnresolvedRow(prediction);
  if (resolution !== null && recorded?.resolution) {
    compareRecorded({ ...toSubject(prediction), attestation: 'resolution' }, resolution.data, recorded.resolution, findings);
  }
  const row = checkForecast(prediction, resolution, { opening, prices, now: context.now, findings });
  if (claimed !== undefined) compareListedRow(row, claimed.row, findings);
  return row;
}

type CommitmentEvidence = Pick<ForecastEvidence, 'prediction' | 'previous' | 'rivals' | 'metadata' | 'recorded' | 'claimed'>;

/** Checks the prediction alone. @returns null when it cannot be read */
export function checkCommitment(evidence: CommitmentEvidence, context: CheckContext, findings: Findings): Prediction | null {
  const { claimed, recorded, previous, rivals, metadata } = evidence;
  if (!('uid' in evidence.prediction)) {
    if (claimed !== undefined) checkClaimedOutcome(claimed.row, findings);
    leaveUncommitted(evidence.prediction, context.now, findings);
    return null;
  }
  if (claimed !== undefined) checkPosition(claimed, findings);
  const prediction = checkAttestation(evidence.prediction, context, findings);
  if (prediction === null) return null;
  const { horizonDays } = prediction.data;
  if (claimed !== undefined) {
    findings.compare('row', toSubject(prediction), { field: 'horizon', expected: `${horizonDays}d`, actual: claimed.row.horizon });
  }
  checkHorizon(prediction, findings);
  checkWindow(prediction, findings);
  checkInTime(prediction, recorded?.isVoid ?? (claimed && claimed.row.status === 'VOID'), findings);
  if (recorded !== undefined) checkRecordedPrediction(prediction, recorded.prediction, findings);
  if (previous !== undefined) checkPrevious(prediction, previous, context, findings);
  if (rivals !== undefined) checkRivals(prediction, rivals, findings);
  if (metadata !== undefined) checkMetadata(prediction, metadata, findings);
  return prediction;
}

function leaveUncommitted({ windowOpensAt, ...forecast }: UncommittedForecast, now: Date, findings: Findings): void {
  const opens = formatInstant(windowOpensAt);
  const because =
    now < windowOpensAt ? `it is not on chain yet and must be before ${opens}` : `it is not on chain, and its window opened at ${opens}`;
  findings.leave('found', { ...NO_SUBJECT, attestation: 'prediction', ...forecast }, because);
}

/** The forecast must refer to that of the day before, so that a dropped or rewritten one shows. */
function checkPrevious(
  prediction: Prediction,
  previous: AttestationEvidence<'prediction'> | null,
  context: CheckContext,
  findings: Findings,
): void {
  const { sequence, horizonDays } = prediction.data;
  if (sequence !== 1 && previous !== null && isUnread(previous.content)) {
    findings.leave('link', toSubject(prediction), previous.content.problem, false);
    return;
  }
  // Findings about the previous forecast are discarded: only its existence counts here.
  const made = sequence === 1 || previous === null ? null : checkAttestation(previous, context, createFindings());
  const fits = made !== null && made.data.horizonDays === horizonDays && made.data.sequence === sequence - 1;
  if (fits) checkFollows(prediction, made, findings);
  else checkLink(prediction, undefined, findings);
}
