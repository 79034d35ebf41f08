import type { Hex } from 'viem';
import type { ResolutionData } from '../../chain/eas/attestation-schemas.ts';
import { type CommitmentOpening, computeCommitment } from '../../chain/eas/commitment.ts';
import { DAY_MS, formatDay } from '../../forecast/day.ts';
import type { RecordStatus } from '../../forecast/statistics/win-rate.ts';
import type { ChainRecord, Prediction, PriceEvidence, Resolution } from '../evidence.ts';
import { type FindingSubject, type Findings, formatInstant, formatSubject, NO_SUBJECT } from '../findings.ts';
import { getCloseDays, isLatePrediction, isMissedPrediction, toResolutionSubject, toSubject } from './prediction.ts';
import { type CheckedOutcome, checkOutcome, computeStatus } from './prices.ts';

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
}

/** Checks the resolution of a forecast, or its absence, and recomputes the outcome. */
export function checkForecast(prediction: Prediction, resolution: Resolution | null, context: OutcomeContext): CheckedRow {
  const { prices, findings } = context;
  const row = { ...toUnresolvedRow(prediction), resolution };
  if (row.status === 'VOID') {
    checkVoid(prediction, resolution !== null, findings);
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
export function matchResolutions({ predictions, resolutions }: ChainRecord, findings: Findings, areAll = true) {
  const known = new Map(predictions.map((prediction) => [prediction.uid, prediction]));
  const matched = new Map<Hex, Resolution>();
  for (const [refUid, [first, ...more]] of Map.groupBy(resolutions, (one) => one.refUid)) {
    const prediction = known.get(refUid);
    const unknown = { ...NO_SUBJECT, attestation: 'resolution', uid: first.uid } as const;
    const subject = prediction === undefined ? unknown : toResolutionSubject(prediction);
    const because = `a resolution of ${refUid}, which is no forecast of this attester`;
    const actual = prediction?.uid ?? 'another';
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

/** A forecast that is late or missed never counts. */
function checkVoid(prediction: Prediction, isResolved: boolean, findings: Findings): void {
  const { at, data } = prediction;
  const subject = toResolutionSubject(prediction);
  const why = isMissedPrediction(prediction)
    ? 'nothing was committed'
    : `attested late: its block is of ${formatInstant(at)}, its window opened at ${formatInstant(data.windowOpensAt)}`;
  const actual = isResolved ? 'resolved' : 'VOID';
  findings.compare('void', subject, { field: 'time', expected: 'VOID', actual, because: `${why}; it is VOID, but it was resolved` });
}

/** The record's data ends before the outcome window, so the forecast can never resolve. */
export function isBeyondData(prediction: Prediction, prices: Pick<PriceEvidence, 'endsOn'> | null): boolean {
  return getCloseDays(prediction).to > (prices?.endsOn ?? Number.POSITIVE_INFINITY);
}

/** Checks a forecast without a resolution: its outcome is not due, or withheld. */
function checkRevealDue(prediction: Prediction, { prices, now, findings }: OutcomeContext): void {
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
