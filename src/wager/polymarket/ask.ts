import { type ErrorCode, messageOf, OracleError } from '../../errors.ts';

const LONGEST_MESSAGE = 200;
/** Timeout, "too early" while the matching engine restarts, and too many requests: the same request may succeed later. */
const PASSING_REFUSALS = [408, 425, 429];

/** The client's own error class, told by its name: the client is loaded only where it is needed. */
interface ApiError extends Error {
  status?: number;
}

export interface Question {
  /** What is asked for, in errors. */
  what: string;
  timeoutMs: number;
  /** What a refusal means to whoever asks. */
  refusedAs: ErrorCode;
}

/**
 * Runs one request to the exchange.
 * @throws OracleError of the code `refusedAs` when the exchange refuses it, FEED_UNAVAILABLE when it does not answer, or not in time,
 * FEED_INVALID when the client cannot read the answer.
 */
export async function ask(question: Question, run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await withinTime(question, run());
  } catch (error) {
    throw explained(question, error);
  }
}

/** True for the client's error on an answer of 400 to 499. */
export function isRefusal(error: unknown): error is ApiError {
  const { status = 0 } = error as ApiError;
  return isApiError(error) && status >= 400 && status < 500 && !PASSING_REFUSALS.includes(status);
}

async function withinTime({ what, timeoutMs }: Question, work: Promise<unknown>): Promise<unknown> {
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

function explained({ what, refusedAs }: Question, error: unknown): OracleError {
  if (error instanceof OracleError) return error;
  const fail = (code: ErrorCode, reason: string) => new OracleError(code, `Polymarket: ${what}: ${reason}`, { cause: error });
  if (!isApiError(error)) return fail('FEED_INVALID', 'the client cannot read the answer');
  // The exchange's reason for a refusal is kept with the wager, as data.
  return isRefusal(error) ? fail(refusedAs, messageOf(error).slice(0, LONGEST_MESSAGE)) : fail('FEED_UNAVAILABLE', 'no answer');
}

function isApiError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ApiError';
}
