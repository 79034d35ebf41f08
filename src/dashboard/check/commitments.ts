import type { Address } from 'viem';
import type { AuditChain } from '../../audit/chain/audit-chain.ts';
import { findCommitments } from '../../audit/chain/collect-forecast-evidence.ts';
import { isUnread, type RivalSearch, type Unread } from '../../verify/evidence.ts';
import type { AttestationReads } from '../chain/attestations.ts';
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

/** Searches the blocks around the rows, with limits on blocks, predictions and time. */
export async function findCommitmentsAround(
  { rows, info, signal }: Pick<CheckTask, 'rows' | 'info' | 'signal'>,
  chain: AuditChain,
  { readings = new Map(), timeoutMs = SEARCH_TIMEOUT_MS }: { readings?: AttestationReads; timeoutMs?: number } = {},
): Promise<RivalSearch | Unread> {
  const time = computeSearchRange(rows, readings);
  if (!Number.isFinite(time.until)) return { problem: 'the service names no opening of its window' };
  const range = { since: new Date(time.since * 1_000), until: new Date(time.until * 1_000) };
  const maxPredictions = Math.max(MAX_PREDICTIONS, MAX_PREDICTIONS_PER_ROW * rows.length);
  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = new Promise<never>((_, reject) => timeout.addEventListener('abort', () => reject(timeout.reason)));
  const attester = info.chain.attester.toLowerCase() as Address;
  const search = { chain, attester, now: new Date(), signal: AbortSignal.any([signal, timeout]) };
  try {
    const found = await Promise.race([findCommitments(search, range, { maxBlocks: MAX_BLOCKS, maxPredictions }), ended]);
    // So many predictions in one day can only serve to hide one.
    if (isUnread(found) || found.tooMany === undefined || rows.length === 1) return found;
    return { problem: `more than ${maxPredictions} predictions are too many for these rows: check this row by itself` };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return { problem: `the endpoint did not answer within ${timeoutMs / 1_000} s` };
    const problem = explainChainError(error);
    if (problem === null) throw error;
    return { problem };
  }
}
