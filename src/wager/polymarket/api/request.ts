import { type ErrorCode, getErrorMessage, OracleError } from '../../../platform/errors.ts';

const MAX_MESSAGE_CHARS = 200;
/** Timeout, "too early" while the matching engine restarts, and too many requests: the same request may succeed later. */
const TRANSIENT_STATUSES = [408, 425, 429];

/** The client's own error class, told by its name: the client is loaded only where it is needed. */
interface ClobApiError extends Error {
  status?: number;
}

export interface ExchangeRequest {
  /** What is asked for, in errors. */
  what: string;
  timeoutMs: number;
  /** What a refusal means to whoever asks. */
  rejectionCode: ErrorCode;
}

/**
 * Runs one request to the exchange.
 * @throws OracleError of the code `refusedAs` when the exchange refuses it, FEED_UNAVAILABLE when it does not answer, or not in time,
 * FEED_INVALID when the client cannot read the answer.
 */
export async function requestExchange(request: ExchangeRequest, run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await withTimeout(request, run());
  } catch (error) {
    throw toExchangeError(request, error);
  }
}

/** True for the client's error on an answer of 400 to 499. */
export function isExchangeRejection(error: unknown): error is ClobApiError {
  const { status = 0 } = error as ClobApiError;
  return isClobApiError(error) && status >= 400 && status < 500 && !TRANSIENT_STATUSES.includes(status);
}

async function withTimeout({ what, timeoutMs }: ExchangeRequest, work: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new OracleError('FEED_UNAVAILABLE', `Polymarket: ${what}: no answer within ${timeoutMs} ms`);
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function toExchangeError({ what, rejectionCode: refusedAs }: ExchangeRequest, error: unknown): OracleError {
  if (error instanceof OracleError) return error;
  const fail = (code: ErrorCode, reason: string) => new OracleError(code, `Polymarket: ${what}: ${reason}`, { cause: error });
  if (!isClobApiError(error)) return fail('FEED_INVALID', 'the client cannot read the answer');
  // The exchange's reason for a refusal is kept with the wager, as data.
  return isExchangeRejection(error)
    ? fail(refusedAs, getErrorMessage(error).slice(0, MAX_MESSAGE_CHARS))
    : fail('FEED_UNAVAILABLE', 'no answer');
}

function isClobApiError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ApiError';
}
