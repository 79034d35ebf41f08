import { createHash } from 'node:crypto';
import type { ErrorRequestHandler, Request, Response } from 'express';
import type { z } from 'zod';
import { ENDPOINTS, IDENTITY } from '../../agent-card/endpoints.ts';
import { SKILLS } from '../../skills/index.ts';
import { REJECTED_TOKEN_CHALLENGE } from '../auth/tokens.ts';
import { formatAmount, getOfferingId } from '../commerce/offerings.ts';
import { toFailedSettlementResponse } from '../commerce/x402/sales.ts';
import {
  createPaymentRejection,
  createPaymentRequired,
  getPaymentDocsUrl,
  holdsTransactionHash,
  isPaymentPayload,
  type PaymentQuote,
  PaymentRequiredError,
} from '../commerce/x402/terms.ts';
import { type ErrorCode, isOracleError, OracleError, toClientError } from '../errors.ts';
import { el, renderMarkup } from '../page/markup.ts';
import type { Log } from '../platform/log.ts';
import { isDatabaseUnreachable, toDatabaseError } from '../platform/mongo.ts';
import { joinUrl } from '../platform/service-client.ts';
import { getRequestId, getRoutePath, PAYMENT_HEADERS, setLoggedError } from './request.ts';
import type { PAYMENT_MEMBERS } from './schemas/payment.ts';

/** HTTP status and title of every error code; `satisfies` makes a missing code a type error. */
export const PROBLEMS = {
  CONFIG_INVALID: { status: 500, title: 'The service is not configured for this' },
  INPUT_INVALID: { status: 400, title: 'A parameter is not valid' },
  UNAUTHENTICATED: { status: 401, title: 'Not authenticated' },
  TIER_REQUIRED: { status: 403, title: 'The wallet does not have the required tier' },
  ORIGIN_REFUSED: { status: 403, title: 'Not for this page or under this name' },
  PAYMENT_REQUIRED: { status: 402, title: 'This has to be paid for' },
  TRANSFER_UNCONFIRMED: { status: 402, title: 'The payment is not on chain yet' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  CONFLICT: { status: 409, title: 'This contradicts what is there' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  NOT_ACCEPTABLE: { status: 406, title: 'The answer is of no type that is accepted' },
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

/** With `details` of the error, and members of its route. */
type ProblemDetails = ReturnType<typeof toProblemDetails> & Record<string, unknown>;

const BEARER = 'Bearer realm="oracle"';

/** RFC 9110, section 15.5.22, and RFC 6455, section 4.4. */
const UPGRADE = { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Version': '13' };

/** Longer than any declared path; an unknown path may be as long as a URL. */
const MAX_INSTANCE_CHARS = 256;

/** Client-safe error body: an error that is not an `OracleError` becomes INTERNAL without its message. */
export function toProblemDetails(error: unknown, instance: string) {
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
type ProblemSerializer = (problem: ProblemDetails, response: Response, error: unknown) => void;

const sendNegotiated: ProblemSerializer = (problem, response, error) => {
  response.vary('Accept');
  // A 404 with facts of its own is an answer, e.g. about an attestation of another wallet.
  const hasFacts = problem.status === 404 && isOracleError(error) && error.details !== undefined;
  if (!hasFacts && isShownAsPage(response, problem.status)) sendProblemPage(response, problem);
  else response.type('application/problem+json').send(JSON.stringify(problem));
};

/** Responds with an error, as `application/problem+json` or a page for browsers, unless a protocol adapter serializes it. */
export function sendProblem(response: Response, error: unknown, serialize: ProblemSerializer = sendNegotiated): void {
  const problem: ProblemDetails = toProblemDetails(error, `${response.req.baseUrl}${response.req.path}`);
  Object.assign(problem, membersByResponse.get(response));
  setLoggedError(response, problem.code);
  // Lets a client quote the log line in a bug report.
  if (problem.code === 'INTERNAL') problem.requestId = getRequestId(response);
  if (error instanceof PaymentRequiredError) {
    const { members, headers } = buildPaymentProblem(error, response.req);
    Object.assign(problem, members);
    response.set(headers);
  }
  if (problem.retryable) response.set('Retry-After', String((isOracleError(error) ? error.retryAfterSeconds : undefined) ?? 30));
  if (problem.code === 'UPGRADE_REQUIRED') response.set(UPGRADE);
  const challenge = buildChallenge(problem, response);
  if (challenge !== undefined) response.vary('Authorization').set('WWW-Authenticate', challenge);
  response.status(problem.status);
  serialize(problem, response, error);
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
      const fields = { requestId: getRequestId(response), route: getRoutePath(request), err: formatErrorForLog(error, request) };
      log.error(fields, 'request failed');
    }
    if (response.headersSent) return next(error);
    sendProblem(response, serviceError, serialize);
  };
}

/** 404 for a path without a route. @param path as requested; empty for paths that must not be disclosed */
export function buildNotFoundError(path = ''): OracleError {
  const suggestedAction = path.startsWith(`${ENDPOINTS.skills}/`)
    ? `GET ${ENDPOINTS.skills} lists the skills: ${SKILLS.map(({ id }) => id).join(', ')}.`
    : 'GET / lists all operations.';
  return new OracleError('NOT_FOUND', 'Nothing is served at this path', { suggestedAction });
}

/** Express sets `status` below 500 on errors of the client; its body parser also sets `type`. */
function toServiceError(error: unknown): unknown {
  if (isOracleError(error)) return error;
  if (isDatabaseUnreachable(error)) return toDatabaseError(error);
  const { status, type, limit } = error as { status?: unknown; type?: unknown; limit?: unknown };
  if (typeof status !== 'number' || status >= 500) return error;
  const field = typeof type === 'string' ? 'body' : 'path';
  if (status === 415) {
    const options = { field, suggestedAction: 'Send JSON in UTF-8, uncompressed.', cause: error };
    return new OracleError('UNSUPPORTED_MEDIA_TYPE', 'The content encoding or charset of the body is not supported', options);
  }
  if (status === 413) {
    const suggestedAction = typeof limit === 'number' ? `Send at most ${limit / 1024} KiB.` : undefined;
    return new OracleError('PAYLOAD_TOO_LARGE', 'The request body is too large', { field, suggestedAction });
  }
  const message = field === 'body' ? 'The body is not a JSON object' : 'The path has a malformed percent-encoding';
  return new OracleError('INPUT_INVALID', message, { field, cause: error });
}

type PaymentMembers = z.input<z.ZodObject<typeof PAYMENT_MEMBERS>>;

/** Members and headers that a 402 adds to a problem document: the quote in both versions of x402, and a summary for people. */
export function buildPaymentProblem(
  { quote, reason, x402Code, unsettledOf: payer }: PaymentRequiredError,
  request: Pick<Request, 'get'>,
): { members: PaymentMembers; headers: Record<string, string> } {
  const sentIn = PAYMENT_HEADERS.filter((name) => request.get(name) !== undefined);
  const unsettled =
    payer === undefined ? {} : buildSettlementHeaders((network) => toFailedSettlementResponse({ payer, x402Code }, network), quote, sentIn);
  return {
    members: {
      x402Version: 1,
      error: x402Code,
      ...(reason === x402Code ? {} : { reason }),
      accepts: quote.requirementsV1 === null ? [] : [quote.requirementsV1],
      payment: summarizeQuote(quote),
      ...(quote.revealedCalls && { revealedCalls: quote.revealedCalls }),
    },
    headers: { [PAYMENT_REQUIRED_HEADER]: encodePaymentHeader(createPaymentRequired(quote, x402Code)), ...unsettled },
  };
}

function summarizeQuote({ offering, requirements, requirementsV1, resource, merchant }: PaymentQuote): PaymentMembers['payment'] {
  const { scheme, amount, asset, payTo, network: chain, maxTimeoutSeconds, extra } = requirements;
  const at = (path: string) => joinUrl(merchant.publicUrl, path);
  return {
    offering: getOfferingId(offering),
    resource: resource.url,
    scheme,
    amount,
    usd: formatAmount(offering.price),
    asset,
    assetName: extra.name,
    payTo,
    chain,
    network: requirementsV1?.network ?? null,
    validForSeconds: maxTimeoutSeconds,
    realMoney: merchant.realMoney,
    docs: getPaymentDocsUrl(merchant.publicUrl),
    reference: at('/docs'),
    terms: at(ENDPOINTS.x402),
    otherwise: `Offerings can also be bought by a transfer and a signed POST ${at('/api/svc/commerce/purchase')}; ${at('/api/svc/commerce/offerings?channel=purchase')} lists them. A token of a tier (POST ${at('/api/svc/oracle/verify')}) opens ${at('/api/svc/oracle')} without a payment.`,
  };
}

export type PaymentHeader = (typeof PAYMENT_HEADERS)[number];

export const PAYMENT_REQUIRED_HEADER = 'PAYMENT-REQUIRED';

export const SETTLEMENT_HEADERS = { v2: 'PAYMENT-RESPONSE', v1: 'X-PAYMENT-RESPONSE' } as const;

export function encodePaymentHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Settlement response headers in the protocol versions of the client. @param sentIn headers that carried the payment */
export function buildSettlementHeaders(
  settlement: (network: string) => { success: boolean },
  { requirements, requirementsV1 }: PaymentQuote,
  sentIn: readonly PaymentHeader[],
): Record<string, string> {
  const inV2 = sentIn.includes('PAYMENT-SIGNATURE') || sentIn.includes('X-402-Payment');
  const inV1 = (sentIn.includes('X-PAYMENT') || sentIn.includes('X-402-Payment')) && requirementsV1 !== null;
  const v2 = settlement(requirements.network);
  const amount = v2.success ? { amount: requirements.amount } : {};
  return {
    ...(inV2 ? { [SETTLEMENT_HEADERS.v2]: encodePaymentHeader({ ...v2, ...amount }) } : {}),
    ...(inV1 ? { [SETTLEMENT_HEADERS.v1]: encodePaymentHeader(settlement(requirementsV1.network)) } : {}),
  };
}

/** Shorter values occur in any stack trace by chance. */
const MIN_SECRET_CHARS = 8;

const SECRET_HEADERS = ['authorization', 'cookie', ...PAYMENT_HEADERS];

/** Stack and causes of an error for the log, bounded, with the credentials and parameters of its request redacted. */
function formatErrorForLog(error: unknown, request: Request): string {
  return collectSecrets(request)
    .reduce((text, secret) => text.replaceAll(secret, '***'), formatTrace(error, 4))
    .slice(0, 8_000);
}

function formatTrace(error: unknown, causes: number): string {
  if (!(error instanceof Error)) return String(error);
  const trace = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined || causes === 0 ? trace : `${trace}\n[cause] ${formatTrace(error.cause, causes - 1)}`;
}

/** Longest first: replacing a substring first would leave the rest of a longer secret. */
function collectSecrets(request: Request): string[] {
  const headers = SECRET_HEADERS.flatMap((name) => request.get(name) ?? []);
  const candidates = headers.flatMap((value) => [value, ...value.split(/[\s;,=]+/)]);
  const texts = [...candidates, ...collectStrings(request.query), ...collectStrings(request.body), ...collectPathParameters(request)];
  return [...new Set(texts)].filter(({ length }) => length >= MIN_SECRET_CHARS).sort((a, b) => b.length - a.length);
}

function collectStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectStrings) : [];
}

/** Segments that the declared path lacks: Express has cleared `params` when its error handler runs. */
function collectPathParameters(request: Request): string[] {
  const declared = new Set(getRoutePath(request).split('/'));
  return request.path.split('/').flatMap((segment) => (declared.has(segment) ? [] : [segment, decodePathSegment(segment)]));
}

function decodePathSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

const membersByResponse = new WeakMap<Response, Record<string, unknown>>();

export function setProblemMembers(response: Response, members: Record<string, unknown>): void {
  membersByResponse.set(response, members);
}

/** In the order of preference where a client accepts several alike, or sends no `Accept`. */
const TYPES = ['application/problem+json', 'application/json', 'text/html'];

/** What a reader of a page can run into without a mistake in a request. */
const STATUSES: readonly number[] = [404, 429, 503];

const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --text: #1b1f24; --quiet: #59636e; --line: #d1d9e0; --link: #0b57d0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0f1318; --text: #e6edf3; --quiet: #9aa7b4; --line: #303a44; --link: #7fb0ff; }
}
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { box-sizing: border-box; max-width: 36rem; margin: 0 auto; padding: 12vh 1.25rem 2rem; }
p { margin: 0.75rem 0; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; }
a { color: var(--link); }
.quiet { color: var(--quiet); }
.name { margin: 0 0 1.5rem; padding-bottom: 0.75rem; border-bottom: 1px solid var(--line); font-weight: 600; }
`;

/** Counts down; the browser itself loads the page again, also where it runs no script. Without characters that HTML escapes. */
const SCRIPT = `
const left = document.querySelector(\`#left\`);
const until = Date.now() + 1000 * Number(left.textContent);
setInterval(function () { left.textContent = String(Math.max(0, Math.ceil((until - Date.now()) / 1000))); }, 500);
`;

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Needs no other file, which could be refused as well. */
const CSP = [
  `default-src 'none'; style-src ${hash(STYLE)}; script-src ${hash(SCRIPT)}`,
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

/** Whether a problem is shown to the reader of a browser, and not returned to a program. */
function isShownAsPage({ req }: Response, status: number): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  return isRead && STATUSES.includes(status) && req.accepts(TYPES) === 'text/html';
}

/** A page that says what is wrong, and loads the address again after `Retry-After`. Status and headers are set before. */
function sendProblemPage(response: Response, problem: ProblemDetails): void {
  const waitSeconds = Number(response.get('Retry-After')) || null;
  // Relative, as a proxy may serve the service below a path of its own.
  const depth = response.req.originalUrl.split('?')[0]!.split('/').length - 2;
  const root = depth === 0 ? './' : '../'.repeat(depth);
  response
    .set('Content-Security-Policy', CSP)
    .type('html')
    .send(renderProblemPage(problem, waitSeconds, root));
}

function renderProblemPage({ title, detail, status, code }: ProblemDetails, waitSeconds: number | null, root: string): string {
  const document = el(
    'html',
    { lang: 'en' },
    el(
      'head',
      {},
      el('meta', { charset: 'utf-8' }),
      el('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      el('meta', { name: 'robots', content: 'noindex' }),
      // A second later, since the window of the limit ends within the last one.
      waitSeconds === null ? null : el('meta', { 'http-equiv': 'refresh', content: String(waitSeconds + 1) }),
      el('title', {}, `${title} · ${IDENTITY.name}`),
      el('style', {}, STYLE),
    ),
    el(
      'body',
      {},
      el(
        'main',
        {},
        el('p', { class: 'name' }, IDENTITY.name),
        el('h1', {}, title),
        el('p', {}, `${detail}.`),
        waitSeconds === null
          ? null
          : el('p', {}, 'This page loads again by itself in ', el('span', { id: 'left' }, String(waitSeconds)), ' s.'),
        el('p', {}, el('a', { href: root }, 'To the forecast')),
        el('p', { class: 'quiet' }, `${status} ${code}`),
      ),
      waitSeconds === null ? null : el('script', {}, SCRIPT),
    ),
  );
  return `<!doctype html>${renderMarkup(document)}`;
}

/** A decoded payment, not validated yet. */
export interface PaymentProof {
  payment: unknown;
  headers: readonly PaymentHeader[];
}

const BASE64 = /^[\w+/-]+={0,2}$/;

/** Decodes the payment headers of a request; null without one. @throws PaymentRequiredError for a malformed payment, and for two */
export function readPaymentProof(header: (name: string) => string | undefined, quote: PaymentQuote): PaymentProof | null {
  const headers = PAYMENT_HEADERS.filter((name) => header(name) !== undefined);
  const [value, ...others] = new Set(headers.map((name) => header(name)));
  if (value === undefined) return null;
  if (others.length > 0) {
    const message = `The request has two different payments: send one of ${headers.join(', ')}`;
    throw createPaymentRejection(quote, 'two_payments', { message });
  }
  return { payment: decodePayment(value, quote), headers };
}

/** Whether the payment headers hold one payload of a known form, which a request must have to be treated as a payment without a quote. */
export function hasPaymentPayload(header: (name: string) => string | undefined): boolean {
  const sent = new Set(PAYMENT_HEADERS.map((name) => header(name)).filter((value) => value !== undefined));
  const [value] = sent;
  return sent.size === 1 && BASE64.test(value) && isPaymentPayload(parseBase64Json(value));
}

function decodePayment(value: string, quote: PaymentQuote): unknown {
  const isBase64 = BASE64.test(value);
  const payment = isBase64 ? parseBase64Json(value) : undefined;
  if (payment !== undefined) return payment ?? {};
  if (holdsTransactionHash(parseJson(value) ?? value)) throw createPaymentRejection(quote, 'proof_is_hash');
  const message = isBase64 ? 'The payment is not base64 of JSON' : 'The payment is not base64';
  throw createPaymentRejection(quote, 'invalid_payload', { message });
}

function parseBase64Json(value: string): unknown {
  return parseJson(Buffer.from(value, 'base64').toString('utf8'));
}

/** Undefined if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
