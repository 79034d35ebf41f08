import { sha256 } from 'viem';
import type { CheckId } from './catalogue.ts';
import { isDue } from './check-distribution-record.ts';
import { checkAttestation } from './checks/attestation.ts';
import { checkDistributions } from './checks/distributions.ts';
import { type CheckedRow, checkForecast, checkOpening, matchResolutions, toUnresolvedRow } from './checks/forecast.ts';
import { checkIndependentTime } from './checks/independent-time.ts';
import { checkInTime, checkLink, checkRivals, checkWindow, toResolutionSubject, toSubject } from './checks/prediction.ts';
import { checkFollows, checkHorizon } from './checks/sequence.ts';
import { compareTree } from './claims/figure-tree.ts';
import { checkClaimedOutcome, checkPosition, compareListedRow } from './claims/rows.ts';
import { type CheckContext, type ForecastEvidence, isUnread, type Prediction, type Unread } from './evidence.ts';
import { createFindings, type Findings, formatInstant, NO_SUBJECT } from './findings.ts';

/**
 * Checks all that evidence shows about one forecast: its attestations, against each other, the records and claims of a service, and prices.
 * @returns what is proven; null when the prediction cannot be read
 */
export function checkForecastEvidence(evidence: ForecastEvidence, context: CheckContext, findings: Findings): CheckedRow | null {
  const { claimed, opening, recorded, search } = evidence;
  const prediction = checkCommitment(evidence, context, findings);
  const read = evidence.resolutions.map((one) => checkAttestation(one, context, findings));
  if (prediction === null) return null;
  const subject = toSubject(prediction);
  const resolutions = read.filter((one) => one !== null);
  const resolution =
    matchResolutions({ predictions: [prediction], resolutions }, findings, search !== undefined).get(prediction.uid) ?? null;
  if (resolution === null && typeof search === 'object') findings.leave('revealed', subject, search.problem);
  if (resolution === null && resolutions.length < read.length) return toUnresolvedRow(prediction);
  if (resolution !== null && recorded?.resolution) {
    const { refUid: _, ...expected } = recorded.resolution;
    compareTree({ path: '', expected, found: resolution.data }, { check: 'row', subject: toResolutionSubject(prediction), findings });
  }
  const { missed } = toUnresolvedRow(prediction);
  const served = missed ? undefined : getRead('opening', opening, prediction, findings);
  if (served !== undefined) checkOpening(subject, prediction.data.commitment, served, findings);
  const isPriced = resolution !== null || !isUnread(evidence.prices);
  const prices = isPriced ? getRead('price', evidence.prices, prediction, findings) : null;
  const row = checkForecast(prediction, resolution, { prices: prices ?? null, now: context.now, findings });
  if (claimed !== undefined) compareListedRow(row, claimed.row, findings);
  if (isDue(row)) checkServedDistributions(row, evidence, context, findings);
  return row;
}

function checkServedDistributions(row: CheckedRow, { distributions }: ForecastEvidence, { now }: CheckContext, findings: Findings): void {
  if (isUnread(distributions)) findings.leave('distributions', toResolutionSubject(row.prediction), distributions.problem, false);
  else if (distributions !== undefined && checkDistributions(row, distributions, { now, findings }) === 'none') {
    const because = 'none were committed when it was made';
    findings.leave('distributions', toResolutionSubject(row.prediction), because, false);
  }
}

/** Evidence that was read; a check whose evidence could not be read is left open. */
function getRead<E extends object>(check: CheckId, evidence: E | Unread | undefined, prediction: Prediction, findings: Findings) {
  if (!isUnread(evidence)) return evidence;
  findings.leave(check, toSubject(prediction), evidence.problem, false);
}

/** Checks the prediction alone. @returns null when it cannot be read */
function checkCommitment(evidence: ForecastEvidence, context: CheckContext, findings: Findings): Prediction | null {
  const { claimed, recorded } = evidence;
  if (!('uid' in evidence.prediction)) {
    const { windowOpensAt, ...forecast } = evidence.prediction;
    if (claimed !== undefined) checkClaimedOutcome(claimed.row, findings);
    const opens = formatInstant(windowOpensAt);
    const why = context.now < windowOpensAt ? ` yet and must be before ${opens}` : `, and its window opened at ${opens}`;
    findings.leave('found', { ...NO_SUBJECT, attestation: 'prediction', ...forecast }, `it is not on chain${why}`);
    return null;
  }
  if (claimed !== undefined) checkPosition(claimed, findings);
  const prediction = checkAttestation(evidence.prediction, context, findings);
  if (prediction === null) return null;
  const { data, refUid } = prediction;
  const subject = toSubject(prediction);
  if (claimed) findings.compare('row', subject, { field: 'horizon', expected: `${data.horizonDays}d`, actual: claimed.row.horizon });
  checkHorizon(prediction, findings);
  checkWindow(prediction, findings);
  checkInTime(prediction, recorded?.isVoid ?? (claimed && claimed.row.status === 'VOID'), findings);
  if (recorded !== undefined) {
    const { refUid: expected, ...values } = recorded.prediction;
    const because = 'it does not refer to the prediction of the day before in the record';
    findings.compare('link', subject, { field: 'refUid', expected, actual: refUid, because });
    compareTree({ path: '', expected: values, found: data }, { check: 'row', subject, findings });
  }
  checkPrevious(prediction, evidence, context, findings);
  const rivals = getRead('onePrediction', evidence.rivals, prediction, findings);
  if (rivals !== undefined) checkRivals(prediction, rivals, findings);
  if (evidence.timestamp !== undefined) checkIndependentTime(prediction, evidence.timestamp, findings);
  const metadata = getRead('metadata', evidence.metadata, prediction, findings);
  if (metadata) findings.compare('metadata', subject, { field: 'metadata', expected: data.metadata, actual: sha256(metadata) });
  return prediction;
}

/** The forecast must refer to that of the day before, so that a dropped or rewritten one shows. */
function checkPrevious(prediction: Prediction, evidence: ForecastEvidence, context: CheckContext, findings: Findings): void {
  const { sequence, horizonDays } = prediction.data;
  if (evidence.previous === undefined) return;
  const previous = sequence === 1 ? null : evidence.previous;
  if (isUnread(previous?.content)) {
    findings.leave('link', toSubject(prediction), previous.content.problem, false);
    return;
  }
  // Findings about the previous forecast are discarded: only its existence counts here.
  const made = previous && checkAttestation(previous, context, createFindings());
  const fits = made !== null && made.data.horizonDays === horizonDays && made.data.sequence === sequence - 1;
  if (fits) checkFollows(prediction, made, findings);
  else checkLink(prediction, undefined, findings);
}
