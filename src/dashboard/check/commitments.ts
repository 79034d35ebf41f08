import type { Address } from 'viem';
import { getSchemaUid } from '../../chain/eas/attestation-schemas.ts';
import { checkAttestation } from '../../verify/checks/attestation.ts';
import { isUnread, type RivalSearch, type Unread } from '../../verify/evidence.ts';
import { createFindings } from '../../verify/findings.ts';
import { type AttestationReads, readAttestations, toEvidence } from '../chain/attestations.ts';
import { findBlocksBetween } from '../chain/blocks.ts';
import { listAttestedUids } from '../chain/logs.ts';
import { type RpcOutcome, RpcUnavailableError } from '../chain/rpc.ts';
import type { ScorecardRow } from '../state/responses.ts';
import type { CheckTask } from './evidence/evidence.ts';

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
  const opens = rows.map(({ windowOpensAt }) => Date.parse(windowOpensAt) / 1_000).filter(Number.isFinite);
  const until = Math.max(...opens);
  const reading = readings.get(String(rows[0]?.attestationUid)) ?? null;
  const made = reading !== null && !isUnread(reading) ? Number(reading.time) || until : until;
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
): Promise<RivalSearch | Unread> {
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
): Promise<RivalSearch> {
  const { eas } = info.contracts;
  const request = { eas, endpoint, signal };
  const time = computeSearchRange(rows, readings);
  if (!Number.isFinite(time.until)) throw new RpcUnavailableError('the service names no opening of its window');
  const { from, to, newest } = await findBlocksBetween(time, request, firstAnswers);
  if (to - from >= MAX_BLOCKS)
    throw new RpcUnavailableError(`${to - from + 1} blocks are too many for these rows: check this row by itself`);
  const attester = info.chain.attester.toLowerCase() as Address;
  const most = Math.max(MAX_PREDICTIONS, MAX_PREDICTIONS_PER_ROW * rows.length);
  const uids = await listAttestedUids({ from, to, attester, schema: getSchemaUid('prediction'), eas, most }, request);
  const search = { since: new Date(time.since * 1_000), newest: new Date(newest.time * 1_000) };
  if (uids.length > most) {
    // So many predictions in one day can only serve to hide one.
    if (rows.length === 1) return { ...search, committed: [], tooMany: most };
    throw new RpcUnavailableError(`more than ${most} predictions are too many for these rows: check this row by itself`);
  }
  await readAttestations(readings, uids, request);
  return { ...search, committed: uids.flatMap((uid) => parseCommitted(readings, uid, attester)) };
}

/** What is of another wallet or schema, or cannot be decoded, commits to nothing. */
function parseCommitted(readings: AttestationReads, uid: string, attester: Address) {
  const evidence = toEvidence(readings, uid, 'prediction');
  if (isUnread(evidence.content)) throw new RpcUnavailableError(evidence.content.problem);
  if (evidence.content?.uid !== evidence.uid) throw new RpcUnavailableError('it lists an attestation but does not return it');
  return checkAttestation(evidence, { attester, now: new Date() }, createFindings()) ?? [];
}
