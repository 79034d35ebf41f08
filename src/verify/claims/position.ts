import { checkAttestation } from '../checks/attestation.ts';
import { checkLink } from '../checks/prediction.ts';
import { checkFollows } from '../checks/sequence.ts';
import { type AttestationEvidence, type CheckContext, type ClaimedRow, isUnread, type Prediction } from '../evidence.ts';
import { createFindings, type FindingSubject, type Findings, NO_SUBJECT } from '../findings.ts';

/** What other rows of its horizon say about a row; closes in USD, null where no row has one. */
export interface RowNeighbours {
  before: Pick<ClaimedRow, 'sequence' | 'attestationUid'> | null;
  /** Rows with its number. */
  alike: number;
  openingClose: number | null;
  endingClose: number | null;
}

/** A row as a list of one horizon shows it. */
export interface ListedRow extends ClaimedRow {
  horizon: string;
  provisional: boolean;
}

/** Compares a row with its neighbours: horizon, single number, row before, and closes shared with adjacent windows. */
export function checkPosition(row: ListedRow, horizonDays: number, near: RowNeighbours, findings: Findings): void {
  const { sequence, btcAtSignal, provisional, btcAtResolution } = row;
  const subject: FindingSubject = { ...NO_SUBJECT, horizonDays, sequence };
  const compareClose = (field: string, expected: number, actual: number) =>
    findings.compare('oneClose', subject, { field, expected, actual, because: 'another row has another close of that day' });
  findings.compare('row', subject, { field: 'horizon', expected: `${horizonDays}d`, actual: row.horizon });
  findings.compare('shown', subject, { field: 'rows', expected: 1, actual: near.alike, because: 'rows have the same number' });
  if (sequence !== 1) {
    const because = `the row before it, number ${sequence - 1}, is missing`;
    findings.compare('shown', subject, { field: 'row before', expected: sequence - 1, actual: near.before?.sequence ?? null, because });
  }
  if (btcAtSignal !== null && !provisional && near.openingClose !== null) compareClose('btcAtSignal', near.openingClose, btcAtSignal);
  if (btcAtResolution !== null && near.endingClose !== null) compareClose('btcAtResolution', near.endingClose, btcAtResolution);
}

/** Checks that a prediction refers to that of the row before. @param previous that attestation; null: the row before has none */
export function checkRowBefore(
  prediction: Prediction,
  { before, previous }: { before: RowNeighbours['before']; previous: AttestationEvidence<'prediction'> | null },
  context: CheckContext,
  findings: Findings,
): void {
  const { sequence, horizonDays } = prediction.data;
  if (sequence === 1) checkLink(prediction, undefined, findings);
  // A missing row is reported by `checkPosition`.
  if (sequence === 1 || before === null) return;
  if (previous !== null && isUnread(previous.content)) {
    findings.leave('link', { ...NO_SUBJECT, attestation: 'prediction', horizonDays, sequence }, previous.content.problem, false);
    return;
  }
  const made = previous === null ? null : checkAttestation(previous, context, createFindings());
  const fits = made !== null && made.data.horizonDays === horizonDays && made.data.sequence === sequence - 1;
  if (fits) checkFollows(prediction, made, findings);
  else checkLink(prediction, undefined, findings);
}
