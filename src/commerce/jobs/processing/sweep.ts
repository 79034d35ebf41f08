import { type ConfirmedBlock, readConfirmedBlock } from '../../../chain/rpc/block-depth.ts';
import { type ErrorCode, isOracleError, OracleError } from '../../../platform/errors.ts';
import type { JobDocWithoutText } from '../job-doc.ts';
import { advanceJob } from './advance.ts';
import { collectJobEvents } from './collect-events.ts';
import type { JobDeps } from './deps.ts';

/** Jobs of one pass. */
const MAX_JOBS_PER_SWEEP = 100;
const CONCURRENCY = 8;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;
/** Retries that a node gets to confirm a transaction or to serve its logs: about half a minute. */
const RETRIES_BEFORE_WARNING = 5;

/**
 * One pass over the jobs for the provider wallet: notes what happened on chain since the last one, then takes every job on that is
 * due, each by its state on chain. Passes may run in any number of processes at once; one that is broken off costs nothing.
 * @throws OracleError CHAIN_UNREACHABLE, STEP_WAITING while the clocks disagree; what goes wrong with a single job is noted with it and tried again
 */
export async function sweepJobs(deps: JobDeps): Promise<void> {
  // Jobs are taken, refused and given up by their expiry.
  const disagreement = await deps.time.findDisagreement();
  if (disagreement !== null) throw new OracleError('STEP_WAITING', disagreement);
  const confirmedBlock = await readConfirmedBlock(deps.chain);
  if (confirmedBlock === null) return;
  await collectJobEvents(deps, confirmedBlock);
  const due = await deps.store.listDue(deps.now(), MAX_JOBS_PER_SWEEP);
  const waiting = due.values();
  // Several at a time: each may wait for its transaction.
  const worker = async () => {
    for (const doc of waiting) await advanceOrRecordFailure(deps, doc, confirmedBlock);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

async function advanceOrRecordFailure(deps: JobDeps, doc: JobDocWithoutText, confirmedBlock: ConfirmedBlock): Promise<void> {
  // Another process has read further.
  if (doc.lastEventBlock > confirmedBlock.number) return;
  try {
    await advanceJob(deps, doc, confirmedBlock);
  } catch (error) {
    if (isOracleError(error, 'SHUTTING_DOWN')) return;
    await recordFailure(deps, doc, error);
  }
}

async function recordFailure(
  { store, log, now }: JobDeps,
  { _id, failures, failure: previousFailure }: JobDocWithoutText,
  error: unknown,
): Promise<void> {
  const failure = isOracleError(error) ? error.code : 'INTERNAL';
  if (shouldWarn(failure, { before: previousFailure, failures }))
    log.warn({ job: _id, err: error }, 'a job of the agent commerce contract cannot go on; it is tried again');
  const pauseMs = Math.min(RETRY_MS * 2 ** Math.min(failures, 10), MAX_RETRY_MS);
  await store.update(_id, { failures: failures + 1, failure, due: new Date(now().getTime() + pauseMs) });
}

/** Each kind of failure once; what only waits for the chain to catch up, after half a minute of waiting. */
function shouldWarn(failure: ErrorCode, { before: previousFailure, failures }: { before: string | null; failures: number }): boolean {
  const isNew = failure !== previousFailure;
  if (failure !== 'TRANSACTION_UNCONFIRMED') return isNew;
  return failures === RETRIES_BEFORE_WARNING || (isNew && failures > RETRIES_BEFORE_WARNING);
}
