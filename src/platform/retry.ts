import { setTimeout as delay } from 'node:timers/promises';
import { type Collection, type Filter, MongoServerError, MongoServerSelectionError, type OptionalUnlessRequiredId } from 'mongodb';
import { isOracleError, type OracleError } from '../errors.ts';
import { isDatabaseUnreachable, isFirstWrite, toDatabaseError } from './mongo.ts';

/** About the time after which leases end by themselves. */
const UNDO_FOR_MS = 15_000;

/** Undoes a write after an error that leaves its outcome open: the reply may be lost, not the write. @param undo only of what this call wrote */
export async function undoIfUncertain<T>(write: Promise<T>, undo: () => Promise<unknown>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (isOutcomeUnknown(error)) await attemptAndKeepTrying(undo, UNDO_FOR_MS);
    throw error;
  }
}

/** Repeats a write once whose reply is lost. Only for writes that have the same effect and result twice. */
export async function repeatIfUncertain<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error;
    return write();
  }
}

/** Reads a write back whose reply is lost, and repeats it when it was not done. @param readBack null when it was not */
export async function confirmIfUncertain<T>(write: () => Promise<T>, readBack: () => Promise<T | null>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error;
    return (await readBack()) ?? write();
  }
}

/** Whether a document was inserted of which the first writer wins. @param own field of a value that no other writer has */
export function insertFirst<Doc extends { _id: string }>(collection: Collection<Doc>, doc: Doc, own: keyof Doc & string): Promise<boolean> {
  return confirmIfUncertain(
    () => isFirstWrite(collection.insertOne(doc as unknown as OptionalUnlessRequiredId<Doc>)),
    async () => {
      const filter = { _id: doc._id, [own]: doc[own] } as unknown as Filter<Doc>;
      return (await collection.findOne(filter, { projection: { _id: 1 } })) === null ? null : true;
    },
  );
}

/** Whether the command was sent: without a server it never was. */
function isOutcomeUnknown(error: unknown): boolean {
  return isDatabaseUnreachable(error) && !(error instanceof MongoServerSelectionError);
}

interface RetryOptions {
  /** From the first failure; 0: no retry. */
  forMs: number;
  signal: AbortSignal;
  /** Called once, with the first failure. */
  onWait?(error: OracleError): void;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** Repeats idempotent work after retryable errors, for a bounded time. @throws the last error; errors that a repetition does not change */
export async function retryWhileUnavailable<T>(work: () => Promise<T>, { forMs, signal, onWait }: RetryOptions): Promise<T> {
  let endsAtMs: number | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (caught) {
      const error = toDatabaseError(caught);
      if (!isPassing(error)) throw caught;
      if (endsAtMs === undefined && forMs > 0) onWait?.(error);
      endsAtMs ??= performance.now() + forMs;
      if (signal.aborted || performance.now() + pauseMs > endsAtMs) throw error;
      await delay(pauseMs, undefined, { signal });
    }
  }
}

/** Resolves after the first attempt; a failed one is repeated in the background, for as long as it is of use, e.g. to release a lease. */
export async function attemptAndKeepTrying(work: () => Promise<unknown>, forMs: number): Promise<void> {
  const keepTrying = () => retryWhileUnavailable(work, { forMs, signal: AbortSignal.timeout(forMs) });
  await work().catch(() => void keepTrying().catch(() => undefined));
}

/** Rejected credentials stay rejected. */
function isPassing(error: unknown): error is OracleError {
  if (!isOracleError(error) || !error.retryable) return false;
  return !(error.cause instanceof MongoServerError) || isDatabaseUnreachable(error.cause);
}
