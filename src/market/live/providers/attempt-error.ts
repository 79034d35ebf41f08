import { TaskCancelledError } from 'cockatiel';
import { isOracleError, OracleError } from '../../../platform/errors.ts';

/** One failed HTTP request; the message begins with its path. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly retryable: boolean;
  /** From the `Retry-After` header; null without one. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { retryable: boolean; retryAfterMs?: number | null; cause?: unknown }) {
    super(message, options);
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

export function isTransient(error: unknown): boolean {
  return error instanceof AttemptError ? error.retryable : error instanceof TaskCancelledError;
}

/** Keeps an OracleError; wraps any other error as FEED_UNAVAILABLE with its cause. */
export function toFeedError(title: string, what: string, error: unknown): OracleError {
  if (isOracleError(error)) return error;
  return new OracleError('FEED_UNAVAILABLE', `${title}: ${formatCallProblem(what, error)}`, { cause: error });
}

/** Omits messages of third-party errors, which contain whole URLs and response bodies. */
function formatCallProblem(what: string, error: unknown): string {
  if (error instanceof AttemptError) return error.message;
  if (error instanceof TaskCancelledError) return `${what} timed out`;
  return `${what} failed (${error instanceof Error ? error.constructor.name : typeof error})`;
}
