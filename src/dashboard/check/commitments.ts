import type { Address } from 'viem';
import type { AuditChain } from '../../audit/chain/audit-chain.ts';
import { findAttestations } from '../../audit/chain/find-attestations.ts';
import { findFirstBlocks } from '../../audit/chain/find-blocks.ts';
import type { RivalSearch } from '../../verify/check-row.ts';
import { checkAttestation } from '../../verify/checks/attestation.ts';
import { isUnread, type Unread } from '../../verify/evidence.ts';
import { createFindings } from '../../verify/findings.ts';
import { type AttestationReads, readAttestations, toEvidence } from '../chain/attestations.ts';
import { explainChainError } from '../chain/record-chain.ts';
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

type SearchTask = Pick<CheckTask, 'rows' | 'info' | 'signal'>;

/** Searches the blocks around the rows, with limits on blocks, predictions and time. @param options `readings` is extended */
export async function findCommitmentsAround(
  task: SearchTask,
  chain: AuditChain,
  { readings = new Map(), timeoutMs = SEARCH_TIMEOUT_MS }: { readings?: AttestationReads; timeoutMs?: number } = {},
): Promise<RivalSearch | Unread> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = new Promise<never>((_, reject) => timeout.addEventListener('abort', () => reject(timeout.reason)));
  try {
    const signal = AbortSignal.any([task.signal, timeout]);
    return await Promise.race([readCommitments({ ...task, signal }, chain, readings), ended]);
  } catch (error) {
    task.signal.throwIfAborted();
    if (timeout.aborted) return { problem: `the endpoint did not answer within ${timeoutMs / 1_000} s` };
    const problem = explainChainError(error);
    if (problem === null) throw error;
    return { problem };
  }
}

async function readCommitments(
  { rows, info, signal }: SearchTask,
  chain: AuditChain,
  readings: AttestationReads,
): Promise<RivalSearch | Unread> {
  const time = computeSearchRange(rows, readings);
  if (!Number.isFinite(time.until)) return { problem: 'the service names no opening of its window' };
  const since = new Date(time.since * 1_000);
  const { first, newest } = await findFirstBlocks(chain, [since, new Date(time.until * 1_000)]);
  const [fromBlock, throughBlock] = [first[0], first[1] - 1];
  const blocks = throughBlock - fromBlock + 1;
  if (blocks > MAX_BLOCKS) return { problem: `${blocks} blocks are too many for these rows: check this row by itself` };
  const attester = info.chain.attester.toLowerCase() as Address;
  const uids = (await findAttestations(chain, 'prediction', { attester, fromBlock, throughBlock, signal })).map(({ uid }) => uid);
  const most = Math.max(MAX_PREDICTIONS, MAX_PREDICTIONS_PER_ROW * rows.length);
  const search = { since, newest: newest.at };
  if (uids.length > most) {
    // So many predictions in one day can only serve to hide one.
    if (rows.length === 1) return { ...search, committed: [], tooMany: most };
    return { problem: `more than ${most} predictions are too many for these rows: check this row by itself` };
  }
  await readAttestations(readings, uids, chain);
  const read = uids.map((uid) => toEvidence(readings, uid, 'prediction'));
  const unread = read.find(({ uid, content }) => isUnread(content) || content?.uid !== uid)?.content;
  if (unread !== undefined) return isUnread(unread) ? unread : { problem: 'it lists an attestation but does not return it' };
  // What is of another wallet or schema, or cannot be decoded, commits to nothing.
  return { ...search, committed: read.flatMap((one) => checkAttestation(one, { attester, now: new Date() }, createFindings()) ?? []) };
}
