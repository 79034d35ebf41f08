import { TaskCancelledError } from 'cockatiel';
import { isOracleError, OracleError } from '../../../platform/errors.ts';

interface AttemptErrorOptions {
  retryable: boolean;
  /** For how long the provider wants to be left alone; null where it did not say. */
  retryAfterMs?: number | null;
  cause?: unknown;
}

/** Why one HTTP request failed; the message begins with its path. */
export class AttemptError extends Error {
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;

  constructor(message: string, { retryable, retryAfterMs = null, cause }: AttemptErrorOptions) {
    super(message, { cause });
    this.name = 'AttemptError';
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether another attempt may do better. */
export function isTransient(error: unknown): boolean {
  if (error instanceof AttemptError) return error.retryable;
  return error instanceof TaskCancelledError || isCcxtNetworkError(error);
}

/** By the names of its classes: the library takes a second to load, and few processes need it. */
function isCcxtNetworkError(error: unknown): boolean {
  for (let prototype = error; prototype instanceof Error; prototype = Object.getPrototypeOf(prototype)) {
    if (prototype.constructor.name === 'NetworkError') return true;
  }
  return false;
}

/** What a failed call tells its caller: an error that is one of ours already, else FEED_UNAVAILABLE with its cause. */
export function toFeedError(title: string, what: string, error: unknown): OracleError {
  if (isOracleError(error)) return error;
  return new OracleError('FEED_UNAVAILABLE', `${title}: ${formatCallProblem(what, error)}`, { cause: error });
}

/** Without the text of foreign errors, which holds whole URLs and answers. */
function formatCallProblem(what: string, error: unknown): string {
  if (error instanceof AttemptError) return error.message;
  if (error instanceof TaskCancelledError) return `${what} gave no answer in time`;
  return `${what} failed (${error instanceof Error ? error.constructor.name : typeof error})`;
}
