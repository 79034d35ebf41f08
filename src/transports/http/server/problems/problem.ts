import type { ErrorRequestHandler, Response } from 'express';
import { REJECTED_TOKEN_CHALLENGE } from '../../../../auth/tokens/access-tokens.ts';
import { PaymentRequiredError } from '../../../../commerce/x402/protocol/payment-quote.ts';
import { type ErrorCode, isOracleError, OracleError, toClientError } from '../../../../platform/errors.ts';
import type { Log } from '../../../../platform/log.ts';
import { isDatabaseUnreachable, toDatabaseError } from '../../../../platform/mongo.ts';
import { buildPaymentProblem } from '../payments/payment-problem.ts';
import { getRequestId, getRoutePath } from '../security/request-log.ts';
import { formatErrorForLog } from './error-for-log.ts';
import { getProblemMembers } from './problem-members.ts';
import { isShownAsPage, sendProblemPage } from './problem-page.ts';

/** HTTP status and title of every error code; `satisfies` makes a missing code a type error. */
export const PROBLEMS = {
  CONFIG_INVALID: { status: 500, title: 'The service is not configured for this' },
  INPUT_INVALID: { status: 400, title: 'A parameter is not valid' },
  UNAUTHENTICATED: { status: 401, title: 'Not authenticated' },
  TIER_REQUIRED: { status: 403, title: 'The gate token balance is below the required tier' },
  ORIGIN_REFUSED: { status: 403, title: 'Not for this page or under this name' },
  PAYMENT_REQUIRED: { status: 402, title: 'This has to be paid for' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  CONFLICT: { status: 409, title: 'This contradicts what is there' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  UPGRADE_REQUIRED: { status: 426, title: 'A WebSocket is served here' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The request is too large' },
  URL_TOO_LONG: { status: 414, title: 'The URL is too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body is of a type that is not read' },
  NOT_IMPLEMENTED: { status: 501, title: 'This form is not offered' },
  FEED_INVALID: { status: 503, title: 'A market feed cannot be read' },
  FEED_UNAVAILABLE: { status: 503, title: 'A market feed does not answer' },
  PRICE_UNAVAILABLE: { status: 503, title: 'No price yet' },
  HISTORY_TOO_SHORT: { status: 503, title: 'Too little price history' },
  CHAIN_UNREACHABLE: { status: 503, title: 'The chain does not answer' },
  SIGNER_UNAVAILABLE: { status: 503, title: 'A signer of the service does not answer' },
  CHAIN_REVERTED: { status: 502, title: 'The chain refused the call' },
  TRANSACTION_UNCONFIRMED: { status: 503, title: 'Not confirmed yet' },
  ATTESTATION_MISMATCH: { status: 500, title: 'The chain does not say what the record says' },
  DATABASE_UNAVAILABLE: { status: 503, title: 'The database does not answer' },
  DATA_DIR_DAMAGED: { status: 500, title: 'The data folder is damaged' },
  DATA_DIR_IN_USE: { status: 503, title: 'The data folder is in use' },
  ILLEGAL_TRANSITION: { status: 500, title: 'The record refused a change' },
  STEP_WAITING: { status: 503, title: 'Not there yet' },
  VENUE_REJECTED: { status: 502, title: 'The venue refused the order' },
  TARGET_UNREACHABLE: { status: 502, title: 'The URL does not answer' },
  SHUTTING_DOWN: { status: 503, title: 'The service is stopping' },
  OVERLOADED: { status: 503, title: 'Too much load' },
  SERVICE_UNREACHABLE: { status: 503, title: 'The service does not answer' },
  INTERNAL: { status: 500, title: 'Something went wrong here' },
} as const satisfies Record<ErrorCode, { status: number; title: string }>;

interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  success: false;
  code: ErrorCode;
  retryable: boolean;
  suggestedAction: string;
  field?: string;
  /** `details` of the error, and members of its route. */
  [detail: string]: unknown;
}

const BEARER = 'Bearer realm="oracle"';

/** RFC 9110, section 15.5.22, and RFC 6455, section 4.4. */
const UPGRADE = { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Version': '13' };

/** Longer than any declared path; an unknown path may be as long as a URL. */
const MAX_INSTANCE_CHARS = 256;

/** Client-safe error body: an error that is not an `OracleError` becomes INTERNAL without its message. */
export function toProblemDetails(error: unknown, instance: string): ProblemDetails {
  const { code, message, retryable, suggestedAction, field, details } = toClientError(error);
  const { status, title } = PROBLEMS[code];
  return {
    type: `urn:bitcoin-signal-oracle:problem:${code.toLowerCase().replaceAll('_', '-')}`,
    title,
    status,
    detail: message,
    instance: instance.slice(0, MAX_INSTANCE_CHARS),
    success: false,
    code,
    retryable,
    suggestedAction,
    ...(field === undefined ? {} : { field }),
    ...details,
  };
}

/** Writes the body of an error; status and headers are set before. */
export type ProblemSerializer = (problem: ProblemDetails, response: Response, error: unknown) => void;

const sendNegotiated: ProblemSerializer = (problem, response, error) => {
  response.vary('Accept');
  // A 404 with facts of its own is an answer, e.g. about an attestation of another wallet.
  const hasFacts = problem.status === 404 && isOracleError(error) && error.details !== undefined;
  if (!hasFacts && isShownAsPage(response, problem.status)) sendProblemPage(response, problem);
  else response.type('application/problem+json').send(JSON.stringify(problem));
};

/** Responds with an error, as `application/problem+json` or a page for browsers, unless a protocol adapter serializes it. */
export function sendProblem(response: Response, error: unknown, serialize: ProblemSerializer = sendNegotiated): void {
  const problem = toProblemDetails(error, `${response.req.baseUrl}${response.req.path}`);
  Object.assign(problem, getProblemMembers(response));
  // Lets a client quote the log line in a bug report.
  if (problem.code === 'INTERNAL') problem.requestId = getRequestId(response);
  if (error instanceof PaymentRequiredError) {
    const { members, headers } = buildPaymentProblem(error, response.req);
    Object.assign(problem, members);
    response.set(headers);
  }
  if (problem.retryable) response.set('Retry-After', String(getRetryAfterSeconds(error)));
  if (problem.code === 'UPGRADE_REQUIRED') response.set(UPGRADE);
  const challenge = buildChallenge(problem, response);
  if (challenge !== undefined) response.vary('Authorization').set('WWW-Authenticate', challenge);
  response.status(problem.status);
  serialize(problem, response, error);
}

function getRetryAfterSeconds(error: unknown): number {
  return (isOracleError(error) ? error.retryAfterSeconds : undefined) ?? 30;
}

/** Bearer challenge of RFC 6750, section 3: with an `error` only where a token was sent. The admin guard sets a Basic challenge before. */
function buildChallenge({ status, code, field }: ProblemDetails, response: Response): string | undefined {
  const sent = response.req.get('Authorization') !== undefined;
  if (sent && code === 'TIER_REQUIRED') return `${BEARER}, error="insufficient_scope"`;
  if (status !== 401) return undefined;
  // A 401 about a signature in the body does not reject the token.
  const isTokenRejected = sent && field === 'Authorization';
  return response.get('WWW-Authenticate') ?? (isTokenRejected ? REJECTED_TOKEN_CHALLENGE : BEARER);
}

/** Last error middleware: maps errors of Express to `OracleError`, and logs unexpected ones with their stack. */
export function createProblemHandler(log: Log, serialize?: ProblemSerializer): ErrorRequestHandler {
  return (error, request, response, next) => {
    const serviceError = toServiceError(error);
    if (!isOracleError(serviceError) || serviceError.code === 'INTERNAL') {
      log.error(
        { requestId: getRequestId(response), route: getRoutePath(request), err: formatErrorForLog(error, request) },
        'request failed',
      );
    }
    if (response.headersSent) return next(error);
    sendProblem(response, serviceError, serialize);
  };
}

/** Express sets `status` below 500 on errors of the client; its body parser also sets `type`. */
function toServiceError(error: unknown): unknown {
  if (isDatabaseUnreachable(error)) return toDatabaseError(error);
  const { status, type, limit } = error as { status?: unknown; type?: unknown; limit?: unknown };
  if (isOracleError(error) || typeof status !== 'number' || status >= 500) return error;
  const field = typeof type === 'string' ? 'body' : 'path';
  if (status === 415) {
    return new OracleError('UNSUPPORTED_MEDIA_TYPE', 'The content encoding or charset of the body is not supported', {
      field,
      suggestedAction: 'Send JSON in UTF-8, uncompressed.',
      cause: error,
    });
  }
  if (status === 413) {
    const suggestedAction = typeof limit === 'number' ? `Send at most ${limit / 1024} KiB.` : undefined;
    return new OracleError('PAYLOAD_TOO_LARGE', 'The request body is too large', { field, suggestedAction });
  }
  const message = field === 'body' ? 'The body is not a JSON object' : 'The path has a malformed percent-encoding';
  return new OracleError('INPUT_INVALID', message, { field, cause: error });
}
