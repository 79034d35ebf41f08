import { type DeepBlock, readDeepBlock } from '../../chain/agent-commerce.ts';
import { type ErrorCode, isOracleError, OracleError } from '../../errors.ts';
import { advanceJob } from './advance.ts';
import { collectEvents } from './collect.ts';
import type { ListedJob } from './job-doc.ts';
import type { JobParts } from './parts.ts';

/** Jobs of one pass. */
const AT_MOST = 100;
const AT_ONCE = 8;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;
/** Retries that a node gets to confirm a transaction or to serve its logs: about half a minute. */
const QUIET_RETRIES = 5;

/**
 * One pass over the jobs for the provider wallet: notes what happened on chain since the last one, then takes every job on that is
 * due, each by its state on chain. Passes may run in any number of processes at once; one that is broken off costs nothing.
 * @throws OracleError CHAIN_UNREACHABLE, STEP_WAITING while the clocks disagree; what goes wrong with a single job is noted with it and tried again
 */
export async function sweepJobs(parts: JobParts): Promise<void> {
  // Jobs are taken, refused and given up by their expiry.
  const disagreement = await parts.time.disagreement();
  if (disagreement !== null) throw new OracleError('STEP_WAITING', disagreement);
  const deep = await readDeepBlock(parts.chain);
  if (deep === null) return;
  await collectEvents(parts, deep);
  const due = await parts.store.due(parts.now(), AT_MOST);
  const waiting = due.values();
  // Several at a time: each may wait for its transaction.
  const lane = async () => {
    for (const doc of waiting) await advanceOrNote(parts, doc, deep);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function advanceOrNote(parts: JobParts, doc: ListedJob, deep: DeepBlock): Promise<void> {
  // Another process has read further.
  if (doc.lastEventBlock > deep.number) return;
  try {
    await advanceJob(parts, doc, deep);
  } catch (error) {
    if (isOracleError(error, 'SHUTTING_DOWN')) return;
    await noteFailure(parts, doc, error);
  }
}

async function noteFailure({ store, log, now }: JobParts, { _id, failures, failure: before }: ListedJob, error: unknown): Promise<void> {
  const failure = isOracleError(error) ? error.code : 'INTERNAL';
  if (isWorthWarning(failure, { before, failures }))
    log.warn({ job: _id, err: error }, 'a job of the agent commerce contract cannot go on; it is tried again');
  const pauseMs = Math.min(RETRY_MS * 2 ** Math.min(failures, 10), LONGEST_RETRY_MS);
  await store.set(_id, { failures: failures + 1, failure, due: new Date(now().getTime() + pauseMs) });
}

/** Each kind of failure once; what only waits for the chain to catch up, after half a minute of waiting. */
function isWorthWarning(failure: ErrorCode, { before, failures }: { before: string | null; failures: number }): boolean {
  const isNew = failure !== before;
  if (failure !== 'TRANSACTION_UNCONFIRMED') return isNew;
  return failures === QUIET_RETRIES || (isNew && failures > QUIET_RETRIES);
}
