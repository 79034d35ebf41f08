import { type AttestationRead, type AttestationReads, readAttestations } from '../chain/attestations.ts';
import { findBlocksBetween } from '../chain/blocks.ts';
import { computeSchemaUid, decodePredictionData, type PredictionData } from '../chain/eas.ts';
import { listAttestedUids } from '../chain/logs.ts';
import { type RpcOutcome, RpcUnavailableError } from '../chain/rpc.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { type CheckList, formatIsoSeconds, parseIsoSeconds } from './check-list.ts';
import type { CheckTask, Commitments, CommittedPrediction } from './evidence/evidence.ts';

/** Searches for competing commitments: a wallet that commits to both directions and reveals the winning one has forecast nothing. */

const HOUR_SECONDS = 3_600;
/** With 2-second blocks, five hours are 9,000 blocks: one `eth_getLogs` call on most endpoints. */
const SEARCH_BEFORE_OPENING_SECONDS = 5 * HOUR_SECONDS;
const SEARCH_BEFORE_MAKING_SECONDS = HOUR_SECONDS;
/** A call is made on its day, whatever the row claims. */
const DAY = 24 * HOUR_SECONDS;
const MAX_BLOCKS = 50_000;
/** A wallet makes four predictions a day, plus those of missed days. */
const MAX_PREDICTIONS = 1_000;
const MAX_PREDICTIONS_PER_ROW = 8;
const SEARCH_TIMEOUT_MS = 30_000;

/** Time range in which another prediction could have been made: a day, shortened for a single row to its commit time. */
export function computeSearchRange(rows: readonly ScorecardRow[], readings: AttestationReads) {
  const opens = rows.map(({ windowOpensAt }) => parseIsoSeconds(windowOpensAt)).filter(Number.isFinite);
  const until = Math.max(...opens);
  const reading = readings.get(String(rows[0]?.attestationUid));
  const made = (reading && 'attestation' in reading && reading.attestation?.time) || until;
  const ahead = rows.length > 1 ? DAY : Math.min(DAY, Math.max(SEARCH_BEFORE_OPENING_SECONDS, until - made + SEARCH_BEFORE_MAKING_SECONDS));
  return { since: Math.floor(Math.min(...opens) - ahead), until };
}

interface CommitmentsAroundOptions {
  readings?: AttestationReads;
  firstAnswers?: readonly RpcOutcome[];
  timeoutMs?: number;
}

/**
 * Searches the blocks around the rows, with limits on blocks, predictions and time.
 * @param options `readings` is extended; `firstAnswers`: answers to the first calls of the search
 */
export async function findCommitmentsAround(
  task: Pick<CheckTask, 'rows' | 'info' | 'endpoint' | 'signal'>,
  { readings = new Map(), firstAnswers, timeoutMs = SEARCH_TIMEOUT_MS }: CommitmentsAroundOptions = {},
): Promise<Commitments> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await readCommitments({ ...task, signal: AbortSignal.any([task.signal, timeout]) }, readings, firstAnswers);
  } catch (error) {
    if (task.signal.aborted) throw error;
    if (timeout.aborted) return { problem: `the endpoint did not answer within ${timeoutMs / 1_000} s` };
    if (!(error instanceof RpcUnavailableError)) throw error;
    return { problem: error.message };
  }
}

async function readCommitments(
  { rows, info, endpoint, signal }: Pick<CheckTask, 'rows' | 'info' | 'endpoint' | 'signal'>,
  readings: AttestationReads,
  firstAnswers?: readonly RpcOutcome[],
): Promise<Commitments> {
  const { eas } = info.contracts;
  const request = { eas, endpoint, signal };
  const time = computeSearchRange(rows, readings);
  if (!Number.isFinite(time.until)) throw new RpcUnavailableError('the service names no opening of its window');
  const { from, to, newest } = await findBlocksBetween(time, request, firstAnswers);
  if (to - from >= MAX_BLOCKS)
    throw new RpcUnavailableError(`${to - from + 1} blocks are too many for these rows: check this row by itself`);
  const attester = info.chain.attester.toLowerCase();
  const schema = computeSchemaUid('prediction');
  const most = Math.max(MAX_PREDICTIONS, MAX_PREDICTIONS_PER_ROW * rows.length);
  const uids = await listAttestedUids({ from, to, attester, schema, eas, most }, request);
  const range = { from, to, since: time.since, newest: newest.time };
  if (uids.length > most) {
    // So many predictions in one day can only serve to hide one.
    if (rows.length === 1) return { ...range, committed: [], tooMany: most };
    throw new RpcUnavailableError(`more than ${most} predictions are too many for these rows: check this row by itself`);
  }
  await readAttestations(readings, uids, request);
  return { ...range, committed: uids.flatMap((uid) => parseCommitted(readings.get(uid), { uid, attester, schema })) };
}

function parseCommitted(
  reading: AttestationRead | undefined,
  { uid, attester, schema }: { uid: string; attester: string; schema: string },
): CommittedPrediction[] {
  if (reading !== undefined && 'problem' in reading) throw new RpcUnavailableError(reading.problem);
  const attestation = reading?.attestation;
  if (attestation?.uid !== uid) throw new RpcUnavailableError('it lists an attestation but does not return it');
  if (attestation.attester !== attester || attestation.schema !== schema) return [];
  try {
    const { day, horizonDays } = decodePredictionData(attestation);
    return [{ uid, time: attestation.time, day, horizonDays }];
  } catch {
    // Undecodable data commits to nothing.
    return [];
  }
}

const CHECK_NAME = 'whether the wallet committed to another call for this day';

/** Checks that no other prediction for the same day and horizon came in time. */
export function checkNoOtherCommitment(
  list: CheckList,
  commitments: Commitments,
  { uid, time, data: { day, horizonDays, windowOpensAt } }: { uid: string; time: number; data: PredictionData },
) {
  if ('problem' in commitments) return list.leave(CHECK_NAME, commitments.problem);
  const { from, to, since, newest, committed, tooMany } = commitments;
  const range = `In blocks ${from} to ${to}, from ${formatIsoSeconds(since)} on`;
  if (tooMany !== undefined) {
    const what = `${range}, the wallet made few enough predictions to read each.`;
    return void list.add('commitments', what, { expected: `at most ${tooMany}`, actual: `more than ${tooMany}` });
  }
  const inTime = committed.filter((one) => one.day === day && one.horizonDays === horizonDays && one.time < windowOpensAt);
  const others = inTime.filter((one) => one.uid !== uid);
  if (inTime.length === 0 && time >= since && time < windowOpensAt) {
    return list.leave(CHECK_NAME, 'the endpoint omits this prediction from its list');
  }
  list.add('commitments', `${range}, the wallet made no other prediction for this day and horizon before its window opened.`, {
    expected: 'no other',
    actual: others.map((one) => one.uid).join(', ') || 'no other',
  });
  if (newest < windowOpensAt) list.postpone('another call before its window opens', `the newest block is from ${formatIsoSeconds(newest)}`);
}
