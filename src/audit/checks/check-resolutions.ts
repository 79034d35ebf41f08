import type { Hex } from 'viem';
import type { ResolutionData } from '../../chain/eas/attestation-schemas.ts';
import { computeCommitment } from '../../chain/eas/commitment.ts';
import { DAY_MS, type Day, formatDay } from '../../forecast/day.ts';
import { scoreDirection } from '../../forecast/scoring.ts';
import type { Prediction, Revelation } from '../chain/chain-record.ts';
import { type AuditPrices, isSamePrice, toPriceCents } from '../prices/audit-prices.ts';
import {
  type AuditedOutcome,
  type AuditedRow,
  computeReturnBps,
  getCloseDays,
  isLatePrediction,
  isMissedPrediction,
} from './audited-row.ts';
import { toSubject } from './check-sequences.ts';
import { type Findings, formatSubject, NO_SUBJECT } from './findings.ts';
import { formatInstant } from './format-instant.ts';

/** A resolution may be this late: the settling step runs every six hours, and prices may be late. */
const GRACE_MS = 2 * DAY_MS;

export interface ResolutionContext {
  prices: AuditPrices;
  /** Independent closes, USD, by day. */
  closes: ReadonlyMap<Day, number>;
  now: Date;
  findings: Findings;
}

/** Maps each prediction's uid to its first resolution. Reports repeated resolutions and those of unknown predictions. */
export function matchRevelations(
  predictions: readonly Prediction[],
  revelations: readonly Revelation[],
  findings: Findings,
): ReadonlyMap<Hex, Revelation> {
  const known = new Map(predictions.map((prediction) => [prediction.uid, prediction]));
  const first = new Map<Hex, Revelation>();
  for (const revelation of revelations) {
    const { uid, refUid, data } = revelation;
    const prediction = known.get(refUid);
    const before = first.get(refUid);
    if (prediction === undefined) {
      const because = `a resolution of ${refUid}, which is no forecast of this attester`;
      findings.addDifference('resolution', { ...NO_SUBJECT, uid }, { field: 'refUID', expected: 'a forecast', found: refUid, because });
    } else if (before !== undefined) {
      const because = `a second resolution, ${uid}, that ${describeDifference(before.data, data)}`;
      findings.addDifference('resolution', toSubject(prediction), { field: 'resolution', expected: 'once', found: 'twice', because });
    } else first.set(refUid, revelation);
  }
  return first;
}

function describeDifference(first: ResolutionData, second: ResolutionData): string {
  const fields = (Object.keys(first) as (keyof ResolutionData)[]).filter((field) => first[field] !== second[field]);
  if (fields.length === 0) return 'repeats the first';
  return `contradicts the first in ${fields.map((field) => `${field} ${first[field]} / ${second[field]}`).join(', ')}`;
}

/** Checks one forecast and its resolution, and recomputes its outcome. */
export function auditForecast(prediction: Prediction, revelation: Revelation | null, context: ResolutionContext): AuditedRow {
  const row = { prediction, revelation, missed: isMissedPrediction(prediction), late: isLatePrediction(prediction) };
  if (row.missed || row.late) {
    if (revelation !== null) reportResolvedVoid(row, context.findings);
    return { ...row, opened: false, outcome: null, status: 'VOID' };
  }
  if (revelation === null) {
    checkRevealDue(prediction, context);
    return { ...row, opened: false, outcome: null, status: 'PENDING' };
  }
  const opened = checkRevelation(prediction, revelation, context.findings);
  const outcome = checkOutcome(prediction, revelation, context);
  const status = opened ? computeStatus(revelation.data, outcome.fromCents, outcome.toCents) : 'PENDING';
  return { ...row, opened, outcome, status };
}

function computeStatus({ signal, direction }: ResolutionData, fromCents: number, toCents: number) {
  return signal === 'HOLD' ? 'HOLD' : scoreDirection(direction, fromCents, toCents);
}

function reportResolvedVoid({ prediction, missed }: Pick<AuditedRow, 'prediction' | 'missed'>, findings: Findings): void {
  const { at, data } = prediction;
  const because = missed
    ? 'nothing was committed, but it was resolved'
    : `attested late: its block is of ${formatInstant(at)}, its window opened at ${formatInstant(data.windowOpensAt)}; it is VOID, but it was resolved`;
  findings.addDifference('resolution', toSubject(prediction), { field: 'time', expected: 'VOID', found: 'resolved', because });
}

/** The record's data ends before the outcome window, so the forecast can never resolve. */
export function isBeyondData(prediction: Prediction, { endsOn }: AuditPrices): boolean {
  return endsOn !== null && getCloseDays(prediction).to > endsOn;
}

function checkRevealDue(prediction: Prediction, { prices, closes, now, findings }: ResolutionContext): void {
  const { resolvesAt } = prediction.data;
  if (isBeyondData(prediction, prices)) return;
  const overdue = now.getTime() > resolvesAt.getTime() + GRACE_MS;
  // Without a close in these prices, the forecast may not have been resolvable.
  if (overdue && !closes.has(getCloseDays(prediction).to)) {
    const close = `there is no close of ${formatDay(getCloseDays(prediction).to)} in ${prices.source}`;
    const end = `over at ${formatInstant(resolvesAt)} and not revealed`;
    findings.addGap(`${formatSubject(toSubject(prediction))}: ${end}; ${close} to say whether it could be`);
    return;
  }
  const because = `withheld: its window ended at ${formatInstant(resolvesAt)}, and nothing has been revealed`;
  findings.compare('revealed', toSubject(prediction), { field: 'resolution', expected: true, found: !overdue, because });
}

/** @returns whether the revealed salt and values open the commitment */
function checkRevelation(prediction: Prediction, { at, data }: Revelation, findings: Findings): boolean {
  const subject = toSubject(prediction);
  const { resolvesAt, commitment } = prediction.data;
  const because = `it was resolved at ${formatInstant(at)}, before its window ended at ${formatInstant(resolvesAt)}`;
  findings.compare('resolution', subject, { field: 'time', expected: true, found: at >= resolvesAt, because });
  if (at.getTime() > resolvesAt.getTime() + GRACE_MS) {
    findings.addNote(`${formatSubject(subject)}: revealed late, at ${formatInstant(at)}; it was over at ${formatInstant(resolvesAt)}`);
  }
  checkValues(prediction, data, findings);
  const opening = tryComputeCommitment(data);
  const reason = `the revealed salt and values do not open the commitment: ${describeCommitted(data, commitment)}`;
  return findings.compare('opening', subject, { field: 'commitment', expected: commitment, found: opening, because: reason });
}

function tryComputeCommitment(data: ResolutionData): string {
  try {
    return computeCommitment(data);
  } catch {
    // The encoder rejects values out of range, so they cannot have been committed.
    return 'none: a value is out of range';
  }
}

/** Searches the few possible signals and directions for the committed ones. */
function describeCommitted(data: ResolutionData, commitment: string): string {
  for (const signal of ['HOLD', 'BUY', 'SELL'] as const) {
    for (const direction of ['UP', 'DOWN'] as const) {
      for (const pUpBps of [data.pUpBps, 10_000 - data.pUpBps]) {
        const tried = { ...data, signal, direction, pUpBps };
        if (computeCommitment(tried) !== commitment) continue;
        return `${signal} ${direction} with P(up) ${pUpBps} bps was committed, ${data.signal} ${data.direction} with ${data.pUpBps} bps was revealed`;
      }
    }
  }
  return 'the salt, or a value, was changed';
}

/** BUY implies UP, SELL implies DOWN; the direction is the likelier one, and the confidence is its probability. */
function checkValues(prediction: Prediction, { signal, direction, confidenceBps, pUpBps }: ResolutionData, findings: Findings): void {
  const subject = toSubject(prediction);
  const implied = signal === 'HOLD' ? direction : signal === 'BUY' ? 'UP' : 'DOWN';
  const because = `${signal} contradicts ${direction}`;
  findings.compare('values', subject, { field: 'direction', expected: implied, found: direction, because });
  // 5,000 bps is rounded from a probability on either side of one half.
  const likelier = pUpBps === 5_000 ? direction : pUpBps > 5_000 ? 'UP' : 'DOWN';
  findings.compare('values', subject, { field: 'direction', expected: likelier, found: direction, because: `P(up) is ${pUpBps} bps` });
  const expected = Math.min(9_900, Math.max(pUpBps, 10_000 - pUpBps));
  findings.compare('values', subject, { field: 'confidenceBps', expected, found: confidenceBps });
}

/** Checks return and outcome against the revealed closes, and those against the independent ones, which take precedence. */
function checkOutcome(prediction: Prediction, { data }: Revelation, context: ResolutionContext): AuditedOutcome {
  const subject = toSubject(prediction);
  const { btcAtSignalCents, btcAtResolutionCents, signal, direction } = data;
  const compare = (field: string, expected: number | string, found: number | string, because: string) =>
    context.findings.compare('outcome', subject, { field, expected, found, because });
  const expectedReturnBps = computeReturnBps(btcAtSignalCents, btcAtResolutionCents);
  compare('returnBps', expectedReturnBps, data.returnBps, 'the return does not follow from the two closes');
  const because = `${signal} ${direction} from ${formatDollars(btcAtSignalCents)} to ${formatDollars(btcAtResolutionCents)}`;
  compare('outcome', computeStatus(data, btcAtSignalCents, btcAtResolutionCents), data.outcome, because);
  const { from, to } = getCloseDays(prediction);
  const fromCents = checkClose(prediction, { field: 'btcAtSignal', day: from, cents: btcAtSignalCents }, context);
  const toCents = checkClose(prediction, { field: 'btcAtResolution', day: to, cents: btcAtResolutionCents }, context);
  return { fromCents, toCents, returnBps: computeReturnBps(fromCents, toCents), rose: toCents > fromCents };
}

function checkClose(
  prediction: Prediction,
  { field, day, cents }: { field: string; day: Day; cents: number },
  { closes, prices, findings }: ResolutionContext,
): number {
  const usd = closes.get(day);
  if (usd === undefined || isSamePrice(cents, usd, prices.toleranceBps)) {
    if (usd !== undefined) findings.compare('price', toSubject(prediction), { field, expected: true, found: true });
    return cents;
  }
  const because = `the close of ${formatDay(day)} is ${formatDollars(cents)} on chain, and ${formatDollars(toPriceCents(usd))} in ${prices.source}`;
  findings.addDifference('price', toSubject(prediction), { field, expected: toPriceCents(usd) / 100, found: cents / 100, because });
  return toPriceCents(usd);
}

function formatDollars(cents: number): string {
  return `${(cents / 100).toFixed(2)} USD`;
}
