import { setTimeout as delay } from 'node:timers/promises';
import { MongoServerError } from 'mongodb';
import { isOracleError, type OracleError } from './errors.ts';
import { isDatabaseUnreachable, toDatabaseError } from './mongo.ts';

export interface RetryOptions {
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
