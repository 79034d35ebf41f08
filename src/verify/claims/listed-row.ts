import type { CommitmentOpening } from '../../chain/eas/commitment.ts';
import type { CheckedRow } from '../checks/forecast.ts';
import { toSubject } from '../checks/prediction.ts';
import type { ListedClaim, ListedRow, Unread } from '../evidence.ts';
import { type FindingSubject, type Findings, NO_SUBJECT } from '../findings.ts';
import { claimsOutcome, compareRow } from './rows.ts';

/** Compares a row with its neighbours: horizon, single number, row before, and closes shared with adjacent windows. */
export function checkPosition({ row, horizon: horizonDays, neighbours }: ListedClaim, findings: Findings): void {
  const { sequence, btcAtSignal, provisional, btcAtResolution } = row;
  const { alike, before, openingClose, endingClose } = neighbours;
  const subject: FindingSubject = { ...NO_SUBJECT, horizonDays, sequence };
  const compareClose = (field: string, expected: number, actual: number) =>
    findings.compare('oneClose', subject, { field, expected, actual, because: 'another row has another close of that day' });
  findings.compare('row', subject, { field: 'horizon', expected: `${horizonDays}d`, actual: row.horizon });
  findings.compare('shown', subject, { field: 'rows', expected: 1, actual: alike, because: 'rows have the same number' });
  if (sequence !== 1) {
    const because = `the row before it, number ${sequence - 1}, is missing`;
    findings.compare('shown', subject, { field: 'row before', expected: sequence - 1, actual: before?.sequence ?? null, because });
  }
  if (btcAtSignal !== null && !provisional && openingClose !== null) compareClose('btcAtSignal', openingClose, btcAtSignal);
  if (btcAtResolution !== null && endingClose !== null) compareClose('btcAtResolution', endingClose, btcAtResolution);
}

/** A row without an attestation must not claim an outcome. */
export function checkClaimedOutcome(row: ListedRow, findings: Findings): void {
  const { sequence, status } = row;
  if (!claimsOutcome(row) && ['PENDING', 'VOID'].includes(status)) return;
  const subject = { ...NO_SUBJECT, attestation: 'prediction', sequence } as const;
  const because = 'the service claims an outcome, and names no attestation of the forecast';
  findings.fail('shown', subject, { field: 'row', expected: 'on chain', actual: status, because });
}

export function compareListedRow(checked: CheckedRow, row: ListedRow, findings: Findings): void {
  const btcAtSignal = row.provisional ? null : row.btcAtSignal;
  compareRow(checked, { ...row, btcAtSignal }, { prices: null, findings });
  if (checked.resolution !== null || btcAtSignal === null) return;
  findings.leave('price', toSubject(checked.prediction), 'the close at window open is not on chain before the resolution', false);
}

/** Salt and values of an unresolved row, in units of the chain. @param salt for readers who may see it */
export function getShownOpening(
  { signal, direction, confidence, pUp, btcPrice, status }: ListedRow,
  salt: string | null,
): CommitmentOpening | Unread {
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
