import { retryWhileUnavailable } from '../../platform/retry-unavailable.ts';
import type { ProcessContext } from '../process-context.ts';

export type RetryPart = <T>(work: () => Promise<T>) => Promise<T>;

/** An election of a replica set takes about 12 seconds. */
const MAX_WAIT_MS = 30_000;

/** Runs an idempotent part of a start, which waits for database and chain for a bounded time. @param isService false for a command, which does not wait */
export function createStartRetry({ log, shutdown }: Pick<ProcessContext, 'log' | 'shutdown'>, isService = true): RetryPart {
  const onWait = (err: Error) => log.warn({ err }, `the start waits, for ${MAX_WAIT_MS / 1_000} s at most`);
  return (work) => retryWhileUnavailable(work, { forMs: isService ? MAX_WAIT_MS : 0, signal: shutdown.signal, onWait });
}
