import { withTimeout } from '../../../platform/concurrency/with-timeout.ts';
import { type ErrorCode, getErrorMessage, OracleError } from '../../../platform/errors.ts';

const MAX_MESSAGE_CHARS = 200;
/** Timeout, "too early" while the matching engine restarts, too many requests: retryable. */
const TRANSIENT_STATUSES = [408, 425, 429];

/** The client's error class, recognised by name because the client is loaded on demand. */
interface ClobApiError extends Error {
  status?: number;
}

interface ExchangeRequest {
  what: string;
  timeoutMs: number;
  /** Code of an error for status 400 to 499. */
  rejectionCode: ErrorCode;
}

/**
 * Runs one request to the exchange.
 * @throws OracleError `rejectionCode` when the exchange rejects it, FEED_UNAVAILABLE without a timely response, FEED_INVALID for a
 * response that the client cannot parse
 */
export async function requestExchange(request: ExchangeRequest, run: () => Promise<unknown>): Promise<unknown> {
  try {
    const { what, timeoutMs } = request;
    const createError = () => new OracleError('FEED_UNAVAILABLE', `Polymarket: ${what}: no response within ${timeoutMs} ms`);
    return await withTimeout(timeoutMs, run(), createError);
  } catch (error) {
    throw toExchangeError(request, error);
  }
}

/** Whether the exchange answered with a non-retryable status of 400 to 499. */
export function isExchangeRejection(error: unknown): error is ClobApiError {
  const { status = 0 } = error as ClobApiError;
  return isClobApiError(error) && status >= 400 && status < 500 && !TRANSIENT_STATUSES.includes(status);
}

function toExchangeError({ what, rejectionCode }: ExchangeRequest, error: unknown): OracleError {
  if (error instanceof OracleError) return error;
  const fail = (code: ErrorCode, reason: string) => new OracleError(code, `Polymarket: ${what}: ${reason}`, { cause: error });
  if (!isClobApiError(error)) return fail('FEED_INVALID', 'the client cannot parse the response');
  // The exchange's reason is stored with the wager.
  return isExchangeRejection(error)
    ? fail(rejectionCode, getErrorMessage(error).slice(0, MAX_MESSAGE_CHARS))
    : fail('FEED_UNAVAILABLE', 'no response');
}

function isClobApiError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ApiError';
}
