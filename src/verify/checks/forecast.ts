import type { Hex } from 'viem';
import { type CommitmentOpening, computeCommitment, type ResolutionData } from '../../chain/eas/schemas.ts';
import { DAY_MS, type Day, formatDay } from '../../forecast/day.ts';
import { scoreDirection } from '../../forecast/signal.ts';
import type { RecordStatus } from '../../forecast/statistics.ts';
import {
  type ChainRecord,
  explainAbsence,
  getCloseDays,
  isLatePrediction,
  isMissedPrediction,
  type Prediction,
  type PriceEvidence,
  type RecordGaps,
  type Resolution,
  toResolutionSubject,
  toSubject,
} from '../evidence.ts';
import { type FindingSubject, type Findings, formatInstant, formatSubject, NO_SUBJECT } from '../findings.ts';

/** One forecast as proven by chain and prices. */
export interface CheckedRow {
  prediction: Prediction;
  /** Zero commitment: nothing was forecast. */
  missed: boolean;
  /** Not on chain before its window opened. */
  late: boolean;
  /** The first resolution; null before. */
  resolution: Resolution | null;
  /** The revealed salt and values open the commitment. */
  opened: boolean;
  /** Null before the resolution. */
  outcome: CheckedOutcome | null;
  status: RecordStatus;
}

/** A row without a valid resolution. */
export function toUnresolvedRow(prediction: Prediction): CheckedRow {
  const [missed, late] = [isMissedPrediction(prediction), isLatePrediction(prediction)];
  const status = missed || late ? 'VOID' : 'PENDING';
  return { prediction, missed, late, resolution: null, opened: false, outcome: null, status };
}

export interface OutcomeContext {
  /** Null: closes are not compared. */
  prices: PriceEvidence | null;
  now: Date;
  findings: Findings;
  /** What the endpoint lacks; undefined: nothing that is known. */
  gaps?: RecordGaps | undefined;
}

/** Checks the resolution of a forecast, or its absence, and recomputes the outcome. */
export function checkForecast(prediction: Prediction, resolution: Resolution | null, context: OutcomeContext): CheckedRow {
  const { prices, findings } = context;
  const row = { ...toUnresolvedRow(prediction), resolution };
  if (row.status === 'VOID') {
    const { at, data } = prediction;
    const late = `attested late: its block is of ${formatInstant(at)}, its window opened at ${formatInstant(data.windowOpensAt)}`;
    const because = `${row.missed ? 'nothing was committed' : late}; it is VOID, but it was resolved`;
    // A forecast that is late or missed never counts.
    const actual = resolution === null ? 'VOID' : 'resolved';
    findings.compare('void', toResolutionSubject(prediction), { field: 'time', expected: 'VOID', actual, because });
    return row;
  }
  if (resolution === null) {
    checkRevealDue(prediction, context);
    return row;
  }
  const opened = checkResolution(prediction, resolution, findings);
  const outcome = checkOutcome(prediction, resolution, prices, findings);
  const status = opened ? computeStatus(resolution.data, outcome.fromCents, outcome.toCents) : 'PENDING';
  return { ...row, opened, outcome, status };
}

/** A resolution may be this late: the settling step runs every six hours, and prices may be late. */
const GRACE_MS = 2 * DAY_MS;

/**
 * Maps each prediction's uid to its first resolution. Reports resolutions of unknown predictions and repeated ones.
 * @param areAll whether these are all resolutions, so that a single one is known to be the only one
 */
export function matchResolutions({ predictions, resolutions }: ChainRecord, findings: Findings, areAll = true, gaps?: RecordGaps) {
  const known = new Map(predictions.map((prediction) => [prediction.uid, prediction]));
  const matched = new Map<Hex, Resolution>();
  for (const [refUid, [first, ...more]] of Map.groupBy(resolutions, (one) => one.refUid)) {
    const prediction = known.get(refUid);
    const unknown = { ...NO_SUBJECT, attestation: 'resolution', uid: first.uid } as const;
    const subject = prediction === undefined ? unknown : toResolutionSubject(prediction);
    const because = `a resolution of ${refUid}, which is no forecast of this attester`;
    const actual = prediction?.uid ?? 'another';
    const unread = gaps?.unread.get(refUid.toLowerCase());
    if (unread !== undefined) {
      findings.doubt('resolves', subject, unread);
      continue;
    }
    if (!findings.compare('resolves', subject, { field: 'refUid', expected: refUid, actual, because })) continue;
    matched.set(refUid, first);
    const once = { field: 'resolution', expected: 'once' };
    if (more.length === 0 && areAll) findings.compare('oneResolution', subject, { ...once, actual: 'once' });
    for (const { uid, data } of more) {
      const why = `a second resolution, ${uid}, that ${describeDifference(first.data, data)}`;
      findings.fail('oneResolution', subject, { ...once, actual: 'twice', because: why });
    }
  }
  return matched;
}

function describeDifference(first: ResolutionData, second: ResolutionData): string {
  const fields = (Object.keys(first) as (keyof ResolutionData)[]).filter((field) => first[field] !== second[field]);
  const differences = fields.map((field) => `${field} ${first[field]} / ${second[field]}`);
  return fields.length === 0 ? 'repeats the first' : `contradicts the first in ${differences.join(', ')}`;
}

/** The record's data ends before the outcome window, so the forecast can never resolve. */
export function isBeyondData(prediction: Prediction, prices: Pick<PriceEvidence, 'endsOn'> | null): boolean {
  return getCloseDays(prediction).to > (prices?.endsOn ?? Number.POSITIVE_INFINITY);
}

/** Checks a forecast without a resolution: its outcome is not due, or withheld. */
function checkRevealDue(prediction: Prediction, { prices, now, findings, gaps }: OutcomeContext): void {
  const subject = toResolutionSubject(prediction);
  const { resolvesAt } = prediction.data;
  const end = formatInstant(resolvesAt);
  const lateMs = now.getTime() - resolvesAt.getTime();
  const { to } = getCloseDays(prediction);
  const leave = (because: string, isDue = false) => findings.leave('revealed', subject, because, isDue);
  if (isBeyondData(prediction, prices)) leave('the data of the record ends before its window');
  else if (!(lateMs > 0)) leave(`its outcome is due at ${end}`);
  else if (lateMs <= GRACE_MS) leave(`its window has ended at ${end}, and it is not resolved yet`);
  else if (prices?.closes.has(to) !== true) {
    // Without a close in these prices, the forecast may not have been resolvable.
    const close = `there is no close of ${formatDay(to)} in ${prices?.source ?? 'the prices that were named (none)'}`;
    leave(`over at ${end} and not revealed; ${close} to say whether it could be`, true);
  } else {
    // The endpoint may have no block yet of a time at which the outcome was overdue.
    const lag =
      gaps !== undefined && gaps.newestAt.getTime() - resolvesAt.getTime() <= GRACE_MS
        ? `the newest block of the endpoint is of ${formatInstant(gaps.newestAt)}, when outcomes were not overdue`
        : null;
    const absence = explainAbsence(gaps) ?? lag;
    if (absence !== null) {
      findings.doubt('revealed', subject, absence);
      return;
    }
    const because = `withheld: its window ended at ${end}, and nothing has been revealed`;
    findings.fail('revealed', subject, { field: 'resolution', expected: true, actual: false, because });
  }
}

/** Checks time, values and opening. @returns whether the revealed salt and values open the commitment */
function checkResolution(prediction: Prediction, { at, data }: Resolution, findings: Findings): boolean {
  const subject = toResolutionSubject(prediction);
  const { resolvesAt, commitment } = prediction.data;
  const [made, end] = [formatInstant(at), formatInstant(resolvesAt)];
  const isAfter = at >= resolvesAt;
  const because = `it was resolved at ${made}, before its window ended at ${end}`;
  findings.compare('afterWindow', subject, { field: 'time', expected: isAfter ? made : `not before ${end}`, actual: made, because });
  findings.compare('revealed', subject, { field: 'resolution', expected: true, actual: true });
  if (at.getTime() > resolvesAt.getTime() + GRACE_MS) {
    findings.note(`${formatSubject(toSubject(prediction))}: revealed late, at ${made}; it was over at ${end}`);
  }
  checkValues(subject, data, findings);
  return checkOpening(subject, commitment, data, findings);
}

/** @returns whether salt and values open the commitment */
export function checkOpening(subject: FindingSubject, commitment: Hex, opening: CommitmentOpening, findings: Findings): boolean {
  const actual = tryComputeCommitment(opening);
  const reason = actual === commitment ? '' : describeCommitted(opening, commitment);
  const because = `the revealed salt and values do not open the commitment: ${reason}`;
  return findings.compare('opening', subject, { field: 'commitment', expected: commitment, actual, because });
}

function tryComputeCommitment(opening: CommitmentOpening): string {
  try {
    return computeCommitment(opening);
  } catch {
    // The encoder rejects values out of range, so they cannot have been committed.
    return 'none: a value is out of range';
  }
}

const CALLS = (['HOLD', 'BUY', 'SELL'] as const).flatMap((signal) => (['UP', 'DOWN'] as const).map((direction) => ({ signal, direction })));

/** Searches the few possible signals and directions for the committed ones. */
function describeCommitted(opening: CommitmentOpening, commitment: string): string {
  const calls = CALLS.flatMap((call) => [opening.pUpBps, 10_000 - opening.pUpBps].map((pUpBps) => ({ ...call, pUpBps })));
  const committed = calls.find((call) => tryComputeCommitment({ ...opening, ...call }) === commitment);
  if (committed === undefined) return 'the salt, or a value, was changed';
  const format = ({ signal, direction, pUpBps }: typeof committed) => `${signal} ${direction} with P(up) ${pUpBps} bps`;
  return `${format(committed)} was committed, ${format(opening)} was revealed`;
}

/** BUY implies UP, SELL implies DOWN; the direction is the likelier one, and the confidence is its probability. */
function checkValues(subject: FindingSubject, { signal, direction, confidenceBps, pUpBps }: CommitmentOpening, findings: Findings): void {
  const implied = signal === 'HOLD' ? direction : signal === 'BUY' ? 'UP' : 'DOWN';
  const because = `${signal} contradicts ${direction}`;
  findings.compare('values', subject, { field: 'signal', expected: implied, actual: direction, because });
  // 5,000 bps is rounded from a probability on either side of one half.
  const likelier = pUpBps === 5_000 ? direction : pUpBps > 5_000 ? 'UP' : 'DOWN';
  findings.compare('values', subject, { field: 'direction', expected: likelier, actual: direction, because: `P(up) is ${pUpBps} bps` });
  const expected = Math.min(9_900, Math.max(pUpBps, 10_000 - pUpBps));
  findings.compare('values', subject, { field: 'confidenceBps', expected, actual: confidenceBps });
}

/** The recomputed outcome of a forecast. */
type CheckedOutcome = ReturnType<typeof checkOutcome>;

export function toPriceCents(usd: number): number {
  return Math.round(usd * 100);
}

/** Whether a close on chain equals the independent one within the tolerance. */
export function isSamePrice(onChainCents: number, usd: number, toleranceBps: number): boolean {
  const cents = toPriceCents(usd);
  return Math.abs(onChainCents - cents) <= (cents * toleranceBps) / 10_000;
}

/** Rounded to the basis point. */
function computeReturnBps(from: number, to: number): number {
  return Math.round((to / from - 1) * 10_000);
}

function computeStatus({ signal, direction }: Pick<ResolutionData, 'signal' | 'direction'>, fromCents: number, toCents: number) {
  return signal === 'HOLD' ? 'HOLD' : scoreDirection(direction, fromCents, toCents);
}

/** Checks return and outcome against the revealed closes, and those against the independent ones, which take precedence. */
function checkOutcome(prediction: Prediction, { data }: Resolution, prices: PriceEvidence | null, findings: Findings) {
  const subject = toResolutionSubject(prediction);
  const { btcAtSignalCents, btcAtResolutionCents, signal, direction, returnBps, outcome } = data;
  const expectedReturn = computeReturnBps(btcAtSignalCents, btcAtResolutionCents);
  const why = 'the return does not follow from the two closes';
  findings.compare('return', subject, { field: 'returnBps', expected: expectedReturn, actual: returnBps, because: why });
  const because = `${signal} ${direction} from ${formatDollars(btcAtSignalCents)} to ${formatDollars(btcAtResolutionCents)}`;
  const expected = computeStatus(data, btcAtSignalCents, btcAtResolutionCents);
  findings.compare('outcome', subject, { field: 'outcome', expected, actual: outcome, because });
  const { from, to } = getCloseDays(prediction);
  const check = (field: string, day: Day, cents: number) =>
    prices === null ? cents : checkClose({ subject, field, day, cents }, prices, findings);
  const fromCents = check('btcAtSignal', from, btcAtSignalCents);
  const toCents = check('btcAtResolution', to, btcAtResolutionCents);
  return { fromCents, toCents, returnBps: computeReturnBps(fromCents, toCents), rose: toCents > fromCents };
}

/** @returns the close that counts */
function checkClose(
  { subject, field, day, cents }: { subject: FindingSubject; field: string; day: Day; cents: number },
  { source, closes, toleranceBps }: PriceEvidence,
  findings: Findings,
): number {
  const usd = closes.get(day);
  if (usd === undefined) {
    findings.leave('price', subject, `${source} has no close of ${formatDay(day)}`);
    return cents;
  }
  const expected = isSamePrice(cents, usd, toleranceBps) ? cents : toPriceCents(usd);
  const because = `the close of ${formatDay(day)} is another in ${source}`;
  findings.compare('price', subject, { field, expected: expected / 100, actual: cents / 100, because });
  return expected;
}

function formatDollars(cents: number): string {
  return `${(cents / 100).toFixed(2)} USD`;
}

/** Independent sources disagree about the sign of smaller returns only: over five years, the largest was 55 bps. */
const MAX_DISPUTED_RETURN_BPS = 60;
/** They disagree on about 1 % of days: 16 of 1,829 at one day, at most 5 at longer horizons. */
const MAX_FLIPS = 2;
const MAX_FLIPPED_SHARE = 0.015;

/**
 * Within the price tolerance, an operator could choose the sign of a small return. Few such flips make the audit incomplete; more than
 * the noise between sources, or a flip of a large return, are differences.
 */
export function checkCloseCalls(rows: readonly CheckedRow[], prices: PriceEvidence, findings: Findings): void {
  const reassessed = rows.flatMap((row) => reassessRow(row, prices) ?? []);
  for (const [horizonDays, members] of Map.groupBy(reassessed, ({ prediction }) => prediction.data.horizonDays)) {
    const flipped = members.filter(({ isFlipped }) => isFlipped);
    for (const one of flipped) reportFlip(one, prices.source, findings);
    if (flipped.length === 0) continue;
    const maxFlips = Math.floor(MAX_FLIPS + MAX_FLIPPED_SHARE * members.length);
    const wins = `${members.filter(({ isWin }) => isWin).length} wins instead of ${members.filter(({ wasWin }) => wasWin).length}`;
    const what = `by ${prices.source} ${flipped.length} of ${members.length} prices went the other way: ${wins}`;
    const because = `${what}; sources disagree about at most ${maxFlips}`;
    const subject = { ...NO_SUBJECT, horizonDays };
    if (flipped.length <= maxFlips) findings.leave('outcome', subject, what);
    else findings.fail('outcome', subject, { field: 'outcomes', expected: `at most ${maxFlips}`, actual: flipped.length, because });
  }
}

type ReassessedRow = NonNullable<ReturnType<typeof reassessRow>>;

/** The outcome of a forecast by its independent closes; null when it has none. */
function reassessRow({ prediction, resolution, outcome, opened, status }: CheckedRow, { closes }: PriceEvidence) {
  const { from, to } = getCloseDays(prediction);
  const [first, last] = [closes.get(from), closes.get(to)];
  if (resolution === null || outcome === null || !opened || first === undefined || last === undefined) return null;
  const [fromCents, toCents] = [toPriceCents(first), toPriceCents(last)];
  const isWin = computeStatus(resolution.data, fromCents, toCents) === 'WIN';
  const isFlipped = outcome.rose !== toCents > fromCents;
  return { prediction, outcome, isFlipped, isWin, wasWin: status === 'WIN', returnBps: computeReturnBps(fromCents, toCents) };
}

function reportFlip({ prediction, outcome, returnBps }: ReassessedRow, source: string, findings: Findings): void {
  const { day, horizonDays } = prediction.data;
  const other = `by ${source} the price went the other way (${returnBps} bps)`;
  const [actual, expected] = outcome.rose ? ['UP', 'DOWN'] : ['DOWN', 'UP'];
  const because = `${other}: by more than sources differ`;
  if (Math.abs(returnBps) <= MAX_DISPUTED_RETURN_BPS) findings.note(`${formatDay(day)} ${horizonDays}d: a close call; ${other}`);
  else findings.fail('outcome', toResolutionSubject(prediction), { field: 'actualDirection', expected, actual, because });
}

/** Checks that all resolutions use the same close of a day, which opens some windows and ends others. */
export function checkOneClose(rows: readonly CheckedRow[], findings: Findings): void {
  const first = new Map<Day, { cents: number; uid: string }>();
  for (const { prediction, resolution } of rows) {
    if (resolution === null) continue;
    const { uid, data } = resolution;
    const { from, to } = getCloseDays(prediction);
    for (const [day, cents, field] of [
      [from, data.btcAtSignalCents, 'btcAtSignal'],
      [to, data.btcAtResolutionCents, 'btcAtResolution'],
    ] as const) {
      const known = first.get(day);
      if (known === undefined) first.set(day, { cents, uid });
      else {
        const because = `${formatDay(day)} closes at another price here than in ${known.uid}`;
        findings.compare('oneClose', toResolutionSubject(prediction), { field, expected: known.cents / 100, actual: cents / 100, because });
      }
    }
  }
}
