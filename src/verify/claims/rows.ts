import type { CommitmentOpening } from '../../chain/eas/commitment.ts';
import { type Day, formatDay, toDay } from '../../forecast/day.ts';
import type { RecordRow } from '../../forecast/statistics/win-rate.ts';
import type { CheckedRow, OutcomeContext } from '../checks/forecast.ts';
import { toSubject } from '../checks/prediction.ts';
import { isSamePrice, toPriceCents } from '../checks/prices.ts';
import type { ClaimedRow, ListedClaim, ListedRow, PriceEvidence, Resolution, Unread } from '../evidence.ts';
import { type FindingSubject, type Findings, NO_SUBJECT } from '../findings.ts';
import { compareTree } from './figure-tree.ts';

export type RowContext = OutcomeContext & { horizonDays: number };

/**
 * Compares each row of the service with the audited one.
 * @returns acceptable rows that are not on chain: today's forecast before its commitment
 */
export function compareRows(rows: readonly CheckedRow[], claimed: readonly ClaimedRow[], context: RowContext): RecordRow[] {
  const { findings, horizonDays } = context;
  const shown = Map.groupBy(claimed, ({ sequence }) => sequence);
  for (const claim of [...shown.values()].flatMap(([, ...more]) => more)) {
    const because = `the service shows sequence ${claim.sequence} twice`;
    findings.fail('shown', toClaimSubject(claim, horizonDays), { field: 'sequence', expected: 'once', actual: 'twice', because });
  }
  for (const row of rows) {
    const [claim] = shown.get(row.prediction.data.sequence) ?? [];
    shown.delete(row.prediction.data.sequence);
    const because = `the service does not show it${row.status === 'LOSS' ? ': a loss was dropped' : ` (${row.status} on chain)`}`;
    findings.compare('shown', toSubject(row.prediction), { field: 'row', expected: true, actual: claim !== undefined, because });
    if (claim !== undefined) compareRow(row, claim, context);
  }
  const next = rows.reduce((last, { prediction }) => Math.max(last, prediction.data.sequence), 0) + 1;
  return [...shown.values()].flatMap(([claim]) => checkDraftRow(claim, next, context));
}

/** A row without an attestation is acceptable for today's forecast, the next in sequence, until its window opens. */
function checkDraftRow(claim: ClaimedRow, next: number, { horizonDays, now, findings }: RowContext): RecordRow[] {
  const subject = toClaimSubject(claim, horizonDays);
  const { day } = subject;
  const isDraft = claim.status === 'PENDING' && !claim.missed && claim.attestationUid === null && !claimsOutcome(claim);
  if (isDraft && day === toDay(now.getTime()) && claim.sequence === next) {
    findings.note(`${formatDay(day)} ${horizonDays}d is not on chain yet; its window has not opened`);
    return [{ day, status: 'PENDING', missed: false, scored: null }];
  }
  const because = 'the service shows it, and it is not on chain';
  findings.fail('shown', subject, { field: 'row', expected: 'on chain', actual: claim.status, because });
  return [];
}

/** Whether a row says more than one that is not resolved may say. */
function claimsOutcome({ resolved, outcome, btcAtResolution, returnBps, resolvedAt, resolutionUid }: ClaimedRow): boolean {
  return resolved || [outcome, btcAtResolution, returnBps, resolvedAt, resolutionUid].some((figure) => figure !== null);
}

function toClaimSubject({ date, sequence }: ClaimedRow, horizonDays: number): FindingSubject {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(date) && !Number.isNaN(Date.parse(date));
  return { ...NO_SUBJECT, horizonDays, day: isDate ? toDay(Date.parse(date)) : null, sequence };
}

/** Compares everything that chain and prices prove of a forecast with what the service says of it. */
function compareRow(row: CheckedRow, claim: ClaimedRow, { prices, findings }: Omit<OutcomeContext, 'now'>): void {
  const isSilent = [claim.direction, claim.confidence, claim.pUp].every((value) => value === null);
  const call = isSilent && claim.signal === (row.missed ? null : 'GATED') ? 'nothing of it' : 'a part of it';
  const compared = { path: '', expected: buildProvenRow(row, claim, prices), found: { ...claim, call } };
  compareTree(compared, { check: 'row', subject: toSubject(row.prediction), findings });
}

/** Undefined where nothing proves it. */
function buildProvenRow(row: CheckedRow, claim: ClaimedRow, prices: PriceEvidence | null) {
  const { prediction, missed, status, outcome } = row;
  const { day, sequence, windowOpensAt, resolvesAt } = prediction.data;
  // Values are comparable once revealed and opened.
  const resolution = row.opened ? row.resolution : null;
  const isOver = outcome !== null && resolution !== null;
  const scored = isOver && { actualReturn: outcome.returnBps / 10_000, actualDirection: outcome.rose ? 'UP' : 'DOWN' };
  return {
    ...{ date: formatDay(day), sequence, status, missed, attestationUid: prediction.uid, windowOpensAt, resolvesAt },
    ...(resolution !== null && getRevealedFields(resolution)),
    // Nothing is shown of a call that is hidden, or was never made.
    call: row.resolution === null && (claim.direction === null || missed) ? 'nothing of it' : undefined,
    ...{ resolved: isOver, resolutionUid: isOver ? resolution.uid : null, resolvedAt: isOver ? resolution.at : null },
    ...{ btcAtResolution: isOver ? outcome.toCents / 100 : null, returnBps: isOver ? outcome.returnBps : null },
    outcome: scored && ['WIN', 'LOSS'].includes(status) ? { ...scored, correct: status === 'WIN' } : null,
    btcAtSignal: outcome === null ? getOpeningClose(claim, day, prices) : outcome.fromCents / 100,
  };
}

function getRevealedFields({ data: { signal, direction, ...units } }: Resolution) {
  const [confidence, pUp] = [units.confidenceBps / 10_000, units.pUpBps / 10_000];
  return { signal, direction, confidence, pUp, btcPrice: units.btcPriceCents / 100 };
}

/** The service shows the close at window open before it is on chain; until then the independent price is expected. */
function getOpeningClose({ btcAtSignal }: ClaimedRow, day: Day, prices: PriceEvidence | null): number | undefined {
  const usd = prices?.closes.get(day);
  if (prices === null || btcAtSignal === null || usd === undefined) return undefined;
  return isSamePrice(toPriceCents(btcAtSignal), usd, prices.toleranceBps) ? btcAtSignal : usd;
}

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
export function getShownOpening(row: ListedRow, salt: string | null): CommitmentOpening | Unread {
  const { signal, direction, confidence, pUp, btcPrice, status } = row;
  const hidden = status === 'VOID' ? 'a void forecast is never resolved on chain' : 'the values are hidden until the resolution';
  if (direction === null) return { problem: hidden };
  if (salt === null) return { problem: 'the service returns no salt to open the commitment' };
  const [confidenceBps, pUpBps] = [confidence, pUp].map((share) => toWholeUnits(share, 10_000));
  return { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents: toWholeUnits(btcPrice, 100) } as CommitmentOpening;
}

/** NaN when the value is not a multiple of `1 / scale`. */
function toWholeUnits(value: number | null, scale: number): number {
  const whole = Math.round((value ?? Number.NaN) * scale);
  return whole / scale === value ? whole : Number.NaN;
}
