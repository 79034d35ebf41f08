import { OracleError } from '../../../platform/errors.ts';
import { ResponseTooLargeError } from '../../../platform/outbound/bounded-body.ts';
import { createOperatorFetch } from '../../../platform/outbound/operator-fetch.ts';
import { AttemptError } from './attempt-error.ts';
import type { ProviderAnswer, ProviderRequest } from './provider.ts';

/** Upper bound, so that a wrong header cannot disable a provider for good. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

interface ProviderRequestContext {
  title: string;
  baseUrl: string;
  signal: AbortSignal;
  now: () => number;
  /** Called with the provider's clock minus ours (ms) for each response with a `Date` header, whatever its status. */
  onClockSkew(skewMs: number): void;
}

const MAX_BODY_BYTES = 20_000_000;
/** Upper bound only: the signal aborts an attempt earlier. */
const MAX_EXCHANGE_MS = 60_000;
const TRANSIENT_STATUSES = [408, 429];

/** @throws AttemptError without a response or for an error status, OracleError FEED_INVALID for a body that is too large or not JSON */
export async function sendRequest(request: ProviderRequest, context: ProviderRequestContext): Promise<ProviderAnswer> {
  const { path, format = 'json' } = request;
  const response = await fetchResponse(request, context);
  const receivedAtMs = context.now();
  const providerAtMs = parseDateHeader(response.headers);
  if (providerAtMs !== null) context.onClockSkew(providerAtMs + parseAgeMs(response.headers) - receivedAtMs);
  if (!response.ok) {
    await response.body?.cancel();
    throw toStatusError(path, response, providerAtMs ?? receivedAtMs);
  }
  const text = await readText(response, path, context.title);
  return { body: format === 'json' ? parseJson(text, path, context.title) : text, receivedAtMs, providerAtMs };
}

async function fetchResponse(request: ProviderRequest, { baseUrl, signal }: ProviderRequestContext): Promise<Response> {
  const { path, method = 'GET', headers, body, format = 'json' } = request;
  try {
    const fetchProvider = createOperatorFetch({ base: baseUrl, timeoutMs: MAX_EXCHANGE_MS, maxBytes: MAX_BODY_BYTES });
    return await fetchProvider(buildUrl(baseUrl, request), {
      method,
      headers: {
        accept: format === 'json' ? 'application/json' : '*/*',
        'user-agent': 'bitcoin-signal-oracle',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (cause) {
    throw new AttemptError(`${path} cannot be reached (${getNetworkErrorCode(cause)})`, { retryable: true, cause });
  }
}

function buildUrl(baseUrl: string, { path, query = {} }: ProviderRequest): URL {
  const url = new URL(`${baseUrl}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  return url;
}

function getNetworkErrorCode(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (cause as { code?: string }).code ?? (cause as Error).name;
}

function parseDateHeader(headers: Headers): number | null {
  const time = parseHttpDate(headers.get('date') ?? '');
  return Number.isNaN(time) ? null : time;
}

/** An HTTP cache returns the original `Date` header with an `Age` header. */
function parseAgeMs(headers: Headers): number {
  return Number(/^\d+$/.exec(headers.get('age') ?? '') ?? 0) * 1_000;
}

function toStatusError(path: string, { status, headers }: Response, providerNowMs: number): AttemptError {
  const retryable = status >= 500 || TRANSIENT_STATUSES.includes(status);
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'), providerNowMs);
  return new AttemptError(`${path} answered ${status}`, { retryable, retryAfterMs });
}

async function readText(response: Response, path: string, title: string): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    if (cause instanceof ResponseTooLargeError) throw unreadableBody(`${title}: ${path} is longer than ${MAX_BODY_BYTES} bytes`);
    throw new AttemptError(`${path} broke off (${getNetworkErrorCode(cause)})`, { retryable: true, cause });
  }
}

function parseJson(text: string, path: string, title: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadableBody(`${title}: ${path} is not JSON`, cause);
  }
}

function unreadableBody(message: string, cause?: unknown): OracleError {
  return new OracleError('FEED_INVALID', message, { field: 'answer', cause });
}

/** Parses `Retry-After` (RFC 9110: seconds or an HTTP date on the provider's clock) to a wait of at most a day (ms); null if invalid. */
export function parseRetryAfter(header: string | null, providerNowMs: number): number | null {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - providerNowMs;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

/** @returns milliseconds since 1970; NaN for an invalid HTTP date */
export function parseHttpDate(text: string): number {
  return text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
}
