import { formatDay, toDay } from '../../forecast/day.ts';
import type { RecordRow } from '../../forecast/statistics/win-rate.ts';
import type { CheckedRow } from '../checks/forecast.ts';
import { toSubject } from '../checks/prediction.ts';
import { isSamePrice, toPriceCents } from '../checks/prices.ts';
import type { ClaimedRow, PriceEvidence } from '../evidence.ts';
import { type CheckedValue, type FindingSubject, type Findings, NO_SUBJECT } from '../findings.ts';

export interface RowContext {
  horizonDays: number;
  prices: PriceEvidence | null;
  now: Date;
  findings: Findings;
}

/**
 * Compares each row of the service with the audited one.
 * @returns acceptable rows that are not on chain: today's forecast before its commitment
 */
export function compareRows(rows: readonly CheckedRow[], claimed: readonly ClaimedRow[], context: RowContext): RecordRow[] {
  const { findings, horizonDays } = context;
  const shown = new Map<number, ClaimedRow>();
  for (const claim of claimed) {
    if (shown.has(claim.sequence)) {
      const because = `the service shows sequence ${claim.sequence} twice`;
      findings.fail('shown', toClaimSubject(claim, horizonDays), { field: 'sequence', expected: 'once', actual: 'twice', because });
    } else shown.set(claim.sequence, claim);
  }
  for (const row of rows) {
    const claim = shown.get(row.prediction.data.sequence);
    shown.delete(row.prediction.data.sequence);
    const because = `the service does not show it${row.status === 'LOSS' ? ': a loss was dropped' : ` (${row.status} on chain)`}`;
    if (findings.compare('shown', toSubject(row.prediction), { field: 'row', expected: true, actual: claim !== undefined, because })) {
      compareRow(row, claim!, context);
    }
  }
  const next = rows.reduce((last, { prediction }) => Math.max(last, prediction.data.sequence), 0) + 1;
  return [...shown.values()].flatMap((claim) => checkDraftRow(claim, next, context));
}

/** A row without an attestation is acceptable for today's forecast, the next in sequence, until its window opens. */
function checkDraftRow(claim: ClaimedRow, next: number, { horizonDays, now, findings }: RowContext): RecordRow[] {
  const subject = toClaimSubject(claim, horizonDays);
  const { day } = subject;
  if (day === toDay(now.getTime()) && claim.sequence === next && isOpenClaim(claim)) {
    findings.note(`${formatDay(day)} ${horizonDays}d is not on chain yet; its window has not opened`);
    return [{ day, status: 'PENDING', missed: false, scored: null }];
  }
  const because = 'the service shows it, and it is not on chain';
  findings.fail('shown', subject, { field: 'row', expected: 'on chain', actual: claim.status, because });
  return [];
}

function isOpenClaim({ status, missed, resolved, outcome, attestationUid, resolutionUid }: ClaimedRow): boolean {
  return status === 'PENDING' && !missed && !resolved && outcome === null && attestationUid === null && resolutionUid === null;
}

function toClaimSubject({ date, sequence }: ClaimedRow, horizonDays: number): FindingSubject {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(date) && !Number.isNaN(Date.parse(date));
  return { ...NO_SUBJECT, horizonDays, day: isDate ? toDay(Date.parse(date)) : null, sequence };
}

/** Compares everything that chain and prices prove of a forecast with what the service says of it. */
export function compareRow(row: CheckedRow, claim: ClaimedRow, context: Pick<RowContext, 'prices' | 'findings'>): void {
  const { uid, data } = row.prediction;
  const compareField = createFieldComparer(row, context.findings);
  compareField('date', formatDay(data.day), claim.date);
  compareField('sequence', data.sequence, claim.sequence);
  compareField('status', row.status, claim.status);
  compareField('missed', row.missed, claim.missed);
  compareField('attestationUid', uid, claim.attestationUid);
  compareField('windowOpensAt', formatIsoOrNull(data.windowOpensAt), claim.windowOpensAt);
  compareField('resolvesAt', formatIsoOrNull(data.resolvesAt), claim.resolvesAt);
  compareValues(row, claim, compareField);
  compareHidden(row, claim, compareField);
  compareOutcome(row, claim, compareField);
  compareOpeningClose(row, claim, { ...context, compareField });
}

type CompareField = (field: string, expected: CheckedValue, actual: CheckedValue) => void;

function createFieldComparer(row: CheckedRow, findings: Findings): CompareField {
  return (field, expected, actual) => {
    findings.compare('row', toSubject(row.prediction), { field, expected, actual, because: `the service shows another ${field}` });
  };
}

/** Values are comparable once revealed and opened. */
function compareValues({ resolution, opened }: CheckedRow, claim: ClaimedRow, compareField: CompareField): void {
  if (resolution === null || !opened) return;
  const { signal, direction, confidenceBps, pUpBps, btcPriceCents } = resolution.data;
  compareField('signal', signal, claim.signal);
  compareField('direction', direction, claim.direction);
  compareField('confidence', confidenceBps / 10_000, claim.confidence);
  compareField('pUp', pUpBps / 10_000, claim.pUp);
  compareField('btcPrice', btcPriceCents / 100, claim.btcPrice);
}

/** Nothing is shown of a call that is hidden, or was never made. */
function compareHidden({ resolution, missed }: CheckedRow, { signal, direction, confidence, pUp }: ClaimedRow, compareField: CompareField) {
  if (resolution !== null || (direction !== null && !missed)) return;
  const isSilent = signal === (missed ? null : 'GATED') && direction === null && confidence === null && pUp === null;
  compareField('call', 'nothing of it', isSilent ? 'nothing of it' : 'a part of it');
}

function compareOutcome({ resolution, outcome, opened, status }: CheckedRow, claim: ClaimedRow, compareField: CompareField): void {
  const proven = opened ? outcome : null;
  const isScored = status === 'WIN' || status === 'LOSS';
  compareField('resolved', proven !== null, claim.resolved);
  compareField('resolutionUid', proven === null ? null : (resolution?.uid ?? null), claim.resolutionUid);
  compareField('resolvedAt', proven === null || resolution === null ? null : formatIsoOrNull(resolution.at), claim.resolvedAt);
  compareField('btcAtResolution', proven === null ? null : proven.toCents / 100, claim.btcAtResolution);
  compareField('returnBps', proven?.returnBps ?? null, claim.returnBps);
  if (proven === null || !isScored) {
    compareField('outcome', null, claim.outcome === null ? null : 'an outcome');
    return;
  }
  compareField('outcome.actualReturn', proven.returnBps / 10_000, claim.outcome?.actualReturn ?? null);
  compareField('outcome.actualDirection', proven.rose ? 'UP' : 'DOWN', claim.outcome?.actualDirection ?? null);
  compareField('outcome.correct', status === 'WIN', claim.outcome?.correct ?? null);
}

/** The service shows the close at window open before it is on chain; until then the independent price is expected. */
function compareOpeningClose(
  { prediction, outcome }: CheckedRow,
  { btcAtSignal }: ClaimedRow,
  { prices, compareField }: Pick<RowContext, 'prices'> & { compareField: CompareField },
): void {
  if (outcome !== null) {
    compareField('btcAtSignal', outcome.fromCents / 100, btcAtSignal);
    return;
  }
  const usd = prices?.closes.get(prediction.data.day);
  if (prices === null || btcAtSignal === null || usd === undefined) return;
  const isSame = isSamePrice(toPriceCents(btcAtSignal), usd, prices.toleranceBps);
  compareField('btcAtSignal', isSame ? btcAtSignal : usd, btcAtSignal);
}

function formatIsoOrNull(at: Date): CheckedValue {
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
