import { type EvidenceSearch, findCommitments } from '../../audit/chain/collect-forecast-evidence.ts';
import { isUnread, type RivalEvidence, type Unread } from '../../verify/evidence.ts';
import { type AttestationReader, orProblem } from '../chain/record-chain.ts';
import type { ScorecardRow } from '../state/responses.ts';

const HOUR_MS = 3_600_000;
/** With 2-second blocks, five hours are 9,000 blocks: one `eth_getLogs` call on most endpoints. */
const SEARCH_BEFORE_OPENING_MS = 5 * HOUR_MS;
/** A call is made on its day, whatever the row claims. */
const MAX_SEARCH_MS = 24 * HOUR_MS;
const MAX_BLOCKS = 50_000;
/** A wallet makes four predictions a day, plus those of missed days. */
const MAX_PREDICTIONS = 1_000;
const MAX_PREDICTIONS_PER_ROW = 8;
const SEARCH_TIMEOUT_MS = 30_000;

/**
 * Searches the blocks around the rows for competing commitments, with limits on blocks, predictions and time: a wallet that commits to both
 * directions and reveals the winning one has forecast nothing.
 */
export async function findCommitmentsAround(
  rows: readonly ScorecardRow[],
  search: EvidenceSearch & { signal: AbortSignal },
  read: AttestationReader,
  timeoutMs = SEARCH_TIMEOUT_MS,
): Promise<RivalEvidence> {
  const range = await computeSearchRange(rows, read);
  if (range === null) return { problem: 'the service names no opening of its window' };
  const maxPredictions = Math.max(MAX_PREDICTIONS, MAX_PREDICTIONS_PER_ROW * rows.length);
  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = new Promise<Unread>((resolve) =>
    timeout.addEventListener('abort', () => resolve({ problem: `the endpoint did not answer within ${timeoutMs / 1_000} s` })),
  );
  const limited = { ...search, signal: AbortSignal.any([search.signal, timeout]) };
  const searching = findCommitments(limited, range, { maxBlocks: MAX_BLOCKS, maxPredictions });
  const found = await Promise.race([orProblem(searching), ended]);
  search.signal.throwIfAborted();
  // So many predictions in one day can only serve to hide one.
  if (isUnread(found) || found.tooMany === undefined || rows.length === 1) return found;
  return { problem: `more than ${maxPredictions} predictions are too many for these rows: check this row by itself` };
}

/** Time range in which another prediction could have been made: a day, shortened for a single row to an hour before its own. */
async function computeSearchRange(rows: readonly ScorecardRow[], read: AttestationReader) {
  const opens = rows.map(({ windowOpensAt }) => Date.parse(windowOpensAt)).filter(Number.isFinite);
  if (opens.length === 0) return null;
  const until = Math.max(...opens);
  const content = rows.length > 1 ? null : (await read('prediction', rows[0].attestationUid))?.content;
  const madeMs = content != null && 'time' in content ? Number(content.time) * 1_000 || until : until;
  const ahead = rows.length > 1 ? MAX_SEARCH_MS : Math.max(SEARCH_BEFORE_OPENING_MS, until - madeMs + HOUR_MS);
  return { since: new Date(Math.min(...opens) - Math.min(MAX_SEARCH_MS, ahead)), until: new Date(until) };
}
