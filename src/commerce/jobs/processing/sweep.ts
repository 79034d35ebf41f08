import PQueue from 'p-queue';
import { readJobEvents } from '../../../chain/erc8183/jobs.ts';
import { type ConfirmedBlock, readConfirmedBlock } from '../../../chain/rpc/block-depth.ts';
import { type ErrorCode, isOracleError, OracleError } from '../../../platform/errors.ts';
import { toDatabaseError } from '../../../platform/mongo.ts';
import { inEntry } from '../../../platform/tracing/span.ts';
import type { JobDocWithoutText } from '../job-doc.ts';
import { advanceJob } from './advance.ts';
import type { JobDeps } from './deps.ts';

const BLOCKS_PER_STEP = 5_000;

/** Blocks that the first start looks back, about a day on Base. */
const LOOK_BACK_BLOCKS = 43_200;

const MAX_JOBS_PER_SWEEP = 100;
const CONCURRENCY = 8;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;
/** Retries before a warning about an unconfirmed transaction: about half a minute. */
const RETRIES_BEFORE_WARNING = 5;

/** May run concurrently in any number of processes, or be interrupted at any point. @throws OracleError CHAIN_UNREACHABLE, STEP_WAITING */
export async function sweepJobs(deps: JobDeps): Promise<void> {
  // Expiry times decide acceptance and delivery, so the clock must be trusted.
  const disagreement = await deps.time.findDisagreement();
  if (disagreement !== null) throw new OracleError('STEP_WAITING', disagreement);
  const confirmedBlock = await readConfirmedBlock(deps.chain);
  if (confirmedBlock === null) return;
  await collectJobEvents(deps, confirmedBlock);
  const due = await deps.store.listDue(deps.now(), MAX_JOBS_PER_SWEEP);
  // Concurrent, since each job may wait for its transaction.
  await new PQueue({ concurrency: CONCURRENCY }).addAll(
    due.map((doc) => () => inJobTrace(doc, () => advanceOrRecordFailure(deps, doc, confirmedBlock))),
  );
}

function inJobTrace({ _id }: JobDocWithoutText, advance: () => Promise<void>): Promise<void> {
  return inEntry({ name: 'agent-commerce job', parent: null, fields: { jobId: _id } }, advance);
}

async function advanceOrRecordFailure(deps: JobDeps, doc: JobDocWithoutText, confirmedBlock: ConfirmedBlock): Promise<void> {
  // Another process has read later blocks.
  if (doc.lastEventBlock > confirmedBlock.number) return;
  try {
    await advanceJob(deps, doc, confirmedBlock);
  } catch (error) {
    if (isOracleError(error, 'SHUTTING_DOWN')) return;
    await recordFailure(deps, doc, error);
  }
}

async function recordFailure({ store, log, now }: JobDeps, doc: JobDocWithoutText, cause: unknown): Promise<void> {
  const { _id, failures, failure: previousFailure } = doc;
  const error = toDatabaseError(cause);
  const failure = isOracleError(error) ? error.code : 'INTERNAL';
  if (shouldWarn(failure, { before: previousFailure, failures }))
    log.warn({ job: _id, err: error }, 'a job of the agent commerce contract cannot go on; it is tried again');
  const pauseMs = Math.min(RETRY_MS * 2 ** Math.min(failures, 10), MAX_RETRY_MS);
  await store.update(_id, { failures: failures + 1, failure, due: new Date(now().getTime() + pauseMs) });
}

/** Warns once per kind of failure; about an unconfirmed transaction only after half a minute. */
function shouldWarn(failure: ErrorCode, { before: previousFailure, failures }: { before: string | null; failures: number }): boolean {
  const isNew = failure !== previousFailure;
  if (failure !== 'TRANSACTION_UNCONFIRMED') return isNew;
  return failures === RETRIES_BEFORE_WARNING || (isNew && failures > RETRIES_BEFORE_WARNING);
}

/** The cursor moves after the events are stored, so a process that crashes in between reads them again. */
async function collectJobEvents({ chain, contract, wallet, store, now }: JobDeps, confirmedBlock: ConfirmedBlock): Promise<void> {
  const last = Number(confirmedBlock.number);
  let cursor = await store.getCursor(contract);
  let next = cursor === null ? Math.max(0, last - LOOK_BACK_BLOCKS) : cursor + 1;
  while (next <= last) {
    const to = Math.min(next + BLOCKS_PER_STEP - 1, last);
    const range = { fromBlock: BigInt(next), toBlock: BigInt(to) };
    const events = await readJobEvents(chain, { contract, provider: wallet.address }, range);
    if (events.length > 0) await store.recordEvents(contract, events, now());
    await store.moveCursor(contract, cursor, to);
    cursor = to;
    next = to + 1;
  }
}
