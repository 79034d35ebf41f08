import type { Hex } from 'viem';
import { commitmentOf } from '../chain/commitment.ts';
import type { ResolutionData } from '../chain/schemas.ts';
import { DAY_MS, type Day, formatDay } from '../forecast/day.ts';
import { directionOutcome } from '../forecast/scoring.ts';
import type { RecordStatus } from '../forecast/statistics/record-summary.ts';
import { type Findings, nameOf } from './findings.ts';
import { iso } from './iso.ts';
import { type AuditPrices, centsOf, isSamePrice } from './prices.ts';
import type { Prediction, Revelation } from './read-record.ts';
import { type AuditedOutcome, type AuditedRow, closeDays, isLate, isMissed, returnBpsOf } from './rows.ts';
import { subjectOf } from './sequence.ts';

/** How long after the end of its window a forecast may stay unrevealed: the check runs every six hours, and prices may be late. */
const GRACE_MS = 2 * DAY_MS;

export interface ResolutionContext {
  prices: AuditPrices;
  /** Independent closes, USD, by day. */
  closes: ReadonlyMap<Day, number>;
  now: Date;
  findings: Findings;
}

/** The first resolution of each prediction, by its uid; those that are too many or of no forecast are named. */
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
      findings.wrong('resolution', NO_FORECAST(uid), { field: 'refUID', expected: 'a forecast', found: refUid, because });
    } else if (before !== undefined) {
      const because = `a second resolution, ${uid}, that ${difference(before.data, data)}`;
      findings.wrong('resolution', subjectOf(prediction), { field: 'resolution', expected: 'once', found: 'twice', because });
    } else first.set(refUid, revelation);
  }
  return first;
}

const NO_FORECAST = (uid: Revelation['uid']) => ({ horizonDays: null, day: null, sequence: null, uid });

function difference(first: ResolutionData, second: ResolutionData): string {
  const fields = (Object.keys(first) as (keyof ResolutionData)[]).filter((field) => first[field] !== second[field]);
  return fields.length === 0
    ? 'repeats the first'
    : `contradicts the first in ${fields.map((field) => `${field} ${first[field]} / ${second[field]}`).join(', ')}`;
}

/** What became of one forecast, with everything about its resolution checked. */
export function auditRow(prediction: Prediction, revelation: Revelation | null, context: ResolutionContext): AuditedRow {
  const row = { prediction, revelation, missed: isMissed(prediction), late: isLate(prediction) };
  if (row.missed || row.late) {
    if (revelation !== null) countedThoughVoid(row, context.findings);
    return { ...row, opened: false, outcome: null, status: 'VOID' };
  }
  if (revelation === null) {
    checkRevealed(prediction, context);
    return { ...row, opened: false, outcome: null, status: 'PENDING' };
  }
  const opened = checkRevelation(prediction, revelation, context.findings);
  const outcome = checkOutcome(prediction, revelation, context);
  return { ...row, opened, outcome, status: opened ? statusOf(revelation.data, outcome) : 'PENDING' };
}

function statusOf({ signal, direction }: ResolutionData, { fromCents, toCents }: AuditedOutcome): RecordStatus {
  return signal === 'HOLD' ? 'HOLD' : directionOutcome(direction, fromCents, toCents);
}

function countedThoughVoid({ prediction, missed }: Pick<AuditedRow, 'prediction' | 'missed'>, findings: Findings): void {
  const { at, data } = prediction;
  const because = missed
    ? 'nothing was committed, and yet it was resolved'
    : `attested late: its block is of ${iso(at)}, its window opened at ${iso(data.windowOpensAt)}; it is VOID, and yet it was resolved`;
  findings.wrong('resolution', subjectOf(prediction), { field: 'time', expected: 'VOID', found: 'resolved', because });
}

/** It can never be revealed: the data that the record is made from ends before. */
export function isBeyondData(prediction: Prediction, { endsOn }: AuditPrices): boolean {
  return endsOn !== null && closeDays(prediction).to > endsOn;
}

function checkRevealed(prediction: Prediction, { prices, closes, now, findings }: ResolutionContext): void {
  const { resolvesAt } = prediction.data;
  if (isBeyondData(prediction, prices)) return;
  const overdue = now.getTime() > resolvesAt.getTime() + GRACE_MS;
  // Without a close nobody could have resolved it, as far as these prices tell.
  if (overdue && !closes.has(closeDays(prediction).to)) {
    const close = `there is no close of ${formatDay(closeDays(prediction).to)} in ${prices.source}`;
    const end = `over at ${iso(resolvesAt)} and not revealed`;
    findings.incomplete(`${nameOf(subjectOf(prediction))}: ${end}; ${close} to say whether it could be`);
    return;
  }
  const because = `withheld: it was over at ${iso(resolvesAt)}, and nothing has been revealed`;
  findings.compare('revealed', subjectOf(prediction), { field: 'resolution', expected: true, found: !overdue, because });
}

/** @returns whether what was revealed is what was committed */
function checkRevelation(prediction: Prediction, { at, data }: Revelation, findings: Findings): boolean {
  const subject = subjectOf(prediction);
  const { resolvesAt, commitment } = prediction.data;
  const because = `it was resolved at ${iso(at)}, before its window was over at ${iso(resolvesAt)}`;
  findings.compare('resolution', subject, { field: 'time', expected: true, found: at >= resolvesAt, because });
  const withheld = at.getTime() > resolvesAt.getTime() + GRACE_MS;
  if (withheld) findings.note(`${nameOf(subject)}: revealed late, at ${iso(at)}; it was over at ${iso(resolvesAt)}`);
  checkValues(prediction, data, findings);
  const opening = hashOf(data);
  const reason = `the revealed salt and values do not open the commitment: ${whatWasCommitted(data, commitment)}`;
  return findings.compare('opening', subject, { field: 'commitment', expected: commitment, found: opening, because: reason });
}

function hashOf(data: ResolutionData): string {
  try {
    return commitmentOf(data);
  } catch {
    // What is out of range was never committed.
    return 'none: a value is out of range';
  }
}

/** A changed word can be found by trying: there are few. */
function whatWasCommitted(data: ResolutionData, commitment: string): string {
  for (const signal of ['HOLD', 'BUY', 'SELL'] as const) {
    for (const direction of ['UP', 'DOWN'] as const) {
      for (const pUpBps of [data.pUpBps, 10_000 - data.pUpBps]) {
        const tried = { ...data, signal, direction, pUpBps };
        if (hashOf(tried) !== commitment) continue;
        return `${signal} ${direction} with P(up) ${pUpBps} bps was committed, ${data.signal} ${data.direction} with ${data.pUpBps} bps was revealed`;
      }
    }
  }
  return 'the salt, or a value, was changed';
}

/** BUY says UP, SELL says DOWN; the direction is the likelier one, and the confidence its probability. */
function checkValues(prediction: Prediction, { signal, direction, confidenceBps, pUpBps }: ResolutionData, findings: Findings): void {
  const subject = subjectOf(prediction);
  const said = signal === 'HOLD' ? direction : signal === 'BUY' ? 'UP' : 'DOWN';
  findings.compare('values', subject, {
    field: 'direction',
    expected: said,
    found: direction,
    because: `${signal} does not say ${direction}`,
  });
  // One half to the basis point may be a hair above or below.
  const likelier = pUpBps === 5_000 ? direction : pUpBps > 5_000 ? 'UP' : 'DOWN';
  findings.compare('values', subject, { field: 'direction', expected: likelier, found: direction, because: `P(up) is ${pUpBps} bps` });
  const expected = Math.min(9_900, Math.max(pUpBps, 10_000 - pUpBps));
  findings.compare('values', subject, { field: 'confidenceBps', expected, found: confidenceBps });
}

/** Return and outcome against the closes told, and the closes against the independent ones, which decide where they disagree. */
function checkOutcome(prediction: Prediction, { data }: Revelation, context: ResolutionContext): AuditedOutcome {
  const { findings } = context;
  const subject = subjectOf(prediction);
  const { btcAtSignalCents, btcAtResolutionCents, signal, direction } = data;
  const expected = signal === 'HOLD' ? 'HOLD' : directionOutcome(direction, btcAtSignalCents, btcAtResolutionCents);
  const told = returnBpsOf(btcAtSignalCents, btcAtResolutionCents);
  findings.compare('outcome', subject, {
    field: 'returnBps',
    expected: told,
    found: data.returnBps,
    because: 'the return is not that of the two closes',
  });
  findings.compare('outcome', subject, {
    field: 'outcome',
    expected,
    found: data.outcome,
    because: `${signal} ${direction} from ${dollars(btcAtSignalCents)} to ${dollars(btcAtResolutionCents)}`,
  });
  const { from, to } = closeDays(prediction);
  const fromCents = checkedClose(prediction, { field: 'btcAtSignal', day: from, cents: btcAtSignalCents }, context);
  const toCents = checkedClose(prediction, { field: 'btcAtResolution', day: to, cents: btcAtResolutionCents }, context);
  return { fromCents, toCents, returnBps: returnBpsOf(fromCents, toCents), rose: toCents > fromCents };
}

function checkedClose(
  prediction: Prediction,
  { field, day, cents }: { field: string; day: Day; cents: number },
  { closes, prices, findings }: ResolutionContext,
): number {
  const usd = closes.get(day);
  if (usd === undefined || isSamePrice(cents, usd, prices.toleranceBps)) {
    if (usd !== undefined) findings.compare('price', subjectOf(prediction), { field, expected: true, found: true });
    return cents;
  }
  const because = `the close of ${formatDay(day)} is ${dollars(cents)} on chain, and ${dollars(centsOf(usd))} in ${prices.source}`;
  findings.wrong('price', subjectOf(prediction), { field, expected: centsOf(usd) / 100, found: cents / 100, because });
  return centsOf(usd);
}

function dollars(cents: number): string {
  return `${(cents / 100).toFixed(2)} USD`;
}
