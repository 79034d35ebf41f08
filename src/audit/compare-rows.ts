import { type Day, dayOf, formatDay } from '../forecast/day.ts';
import type { RecordRow } from '../forecast/statistics/record-summary.ts';
import type { ClaimedRow } from './claims.ts';
import type { Findings, Subject, Told } from './findings.ts';
import { type AuditPrices, centsOf, isSamePrice } from './prices.ts';
import type { AuditedRow } from './rows.ts';
import { subjectOf } from './sequence.ts';

export interface RowContext {
  horizonDays: number;
  prices: AuditPrices;
  /** Independent closes, USD, by day. */
  closes: ReadonlyMap<Day, number>;
  now: Date;
  findings: Findings;
}

/**
 * Compares every row that the service shows with what chain and prices say.
 * @returns rows that it may show although they are not on chain: made today, to be committed before their window opens
 */
export function compareRows(rows: readonly AuditedRow[], claimed: readonly ClaimedRow[], context: RowContext): RecordRow[] {
  const { findings, horizonDays } = context;
  const shown = new Map<number, ClaimedRow>();
  for (const claim of claimed) {
    if (shown.has(claim.sequence)) {
      const because = `the service shows sequence ${claim.sequence} twice`;
      findings.wrong('shown', ofClaim(claim, horizonDays), { field: 'sequence', expected: 'once', found: 'twice', because });
    } else shown.set(claim.sequence, claim);
  }
  for (const row of rows) {
    const claim = shown.get(row.prediction.data.sequence);
    shown.delete(row.prediction.data.sequence);
    const because = `the service does not show it${row.status === 'LOSS' ? ': a loss was dropped' : ` (${row.status} on chain)`}`;
    if (findings.compare('shown', subjectOf(row.prediction), { field: 'row', expected: true, found: claim !== undefined, because })) {
      compareRow(row, claim!, context);
    }
  }
  const next = rows.reduce((last, { prediction }) => Math.max(last, prediction.data.sequence), 0) + 1;
  return [...shown.values()].flatMap((claim) => draftOf(claim, next, context));
}

/** A row that is on no chain: in order for the forecast of today, which is the next, until its window opens at the end of the day. */
function draftOf(claim: ClaimedRow, next: number, { horizonDays, now, findings }: RowContext): RecordRow[] {
  const subject = ofClaim(claim, horizonDays);
  const { day } = subject;
  if (day === dayOf(now.getTime()) && claim.sequence === next && isOpen(claim)) {
    findings.note(`${formatDay(day)} ${horizonDays}d has been made and is not on chain yet: its window has not opened`);
    return [{ day, status: 'PENDING', missed: false, scored: null }];
  }
  const because = 'the service shows it, and it is not on chain';
  findings.wrong('shown', subject, { field: 'row', expected: 'on chain', found: claim.status, because });
  return [];
}

function isOpen({ status, missed, resolved, outcome, attestationUid, resolutionUid }: ClaimedRow): boolean {
  return status === 'PENDING' && !missed && !resolved && outcome === null && attestationUid === null && resolutionUid === null;
}

function ofClaim({ date, sequence }: ClaimedRow, horizonDays: number): Subject {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(date) && !Number.isNaN(Date.parse(date));
  return { horizonDays, day: isDate ? dayOf(Date.parse(date)) : null, sequence, uid: null };
}

function compareRow(row: AuditedRow, claim: ClaimedRow, context: RowContext): void {
  const { uid, data } = row.prediction;
  const same = compareWith(row, context.findings);
  same('date', formatDay(data.day), claim.date);
  same('status', row.status, claim.status);
  same('missed', row.missed, claim.missed);
  same('attestationUid', uid, claim.attestationUid);
  same('windowOpensAt', iso(data.windowOpensAt), claim.windowOpensAt);
  same('resolvesAt', iso(data.resolvesAt), claim.resolvesAt);
  compareValues(row, claim, same);
  compareOutcome(row, claim, same);
  compareOpeningClose(row, claim, context);
}

type Same = (field: string, expected: Told, found: Told) => void;

function compareWith(row: AuditedRow, findings: Findings): Same {
  return (field, expected, found) => {
    findings.compare('row', subjectOf(row.prediction), { field, expected, found, because: `the service shows another ${field}` });
  };
}

/** What a forecast said can be compared once it is proven; of what was never revealed nobody can tell. */
function compareValues({ revelation, opened }: AuditedRow, claim: ClaimedRow, same: Same): void {
  if (revelation === null || !opened) return;
  const { signal, direction, confidenceBps, pUpBps, btcPriceCents } = revelation.data;
  same('signal', signal, claim.signal);
  same('direction', direction, claim.direction);
  same('confidence', confidenceBps / 10_000, claim.confidence);
  same('pUp', pUpBps / 10_000, claim.pUp);
  same('btcPrice', btcPriceCents / 100, claim.btcPrice);
}

function compareOutcome({ revelation, outcome, opened, status }: AuditedRow, claim: ClaimedRow, same: Same): void {
  const proven = opened ? outcome : null;
  const isScored = status === 'WIN' || status === 'LOSS';
  same('resolved', proven !== null, claim.resolved);
  same('resolutionUid', proven === null ? null : (revelation?.uid ?? null), claim.resolutionUid);
  same('resolvedAt', proven === null || revelation === null ? null : iso(revelation.at), claim.resolvedAt);
  same('btcAtResolution', proven === null ? null : proven.toCents / 100, claim.btcAtResolution);
  same('returnBps', proven?.returnBps ?? null, claim.returnBps);
  if (proven === null || !isScored) {
    same('outcome', null, claim.outcome === null ? null : 'an outcome');
    return;
  }
  same('outcome.actualReturn', proven.returnBps / 10_000, claim.outcome?.actualReturn ?? null);
  same('outcome.actualDirection', proven.rose ? 'UP' : 'DOWN', claim.outcome?.actualDirection ?? null);
  same('outcome.correct', status === 'WIN', claim.outcome?.correct ?? null);
}

/** The close at window open is shown before it is on chain: until then the independent prices tell. */
function compareOpeningClose({ prediction, outcome }: AuditedRow, { btcAtSignal }: ClaimedRow, context: RowContext): void {
  const { closes, prices, findings } = context;
  const subject = subjectOf(prediction);
  const because = 'the service shows another btcAtSignal';
  if (outcome !== null) {
    findings.compare('row', subject, { field: 'btcAtSignal', expected: outcome.fromCents / 100, found: btcAtSignal, because });
    return;
  }
  const usd = closes.get(prediction.data.day);
  if (btcAtSignal === null || usd === undefined) return;
  const same = isSamePrice(centsOf(btcAtSignal), usd, prices.toleranceBps);
  findings.compare('row', subject, { field: 'btcAtSignal', expected: same ? btcAtSignal : usd, found: btcAtSignal, because });
}

function iso(at: Date): Told {
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
