import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, OracleError, type OracleErrorOptions } from '../errors.ts';
import { createOperatorFetch, ResponseTooLargeError } from './outbound/operator.ts';

/** A page of the record has a few hundred kB. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface ServiceRequest {
  url: string;
  /** Begins with a slash. */
  path: string;
  /** Sent to the service only. */
  token: string | undefined;
  /** Default: POST with a body, GET without one. */
  method?: 'GET' | 'POST' | 'DELETE';
  body?: Record<string, unknown>;
  /** Further headers, e.g. a payment. */
  headers?: Record<string, string>;
  deadlineMs: number;
  /** Response size limit; default 4 MiB. The scorecard of a record of ten years has more. */
  maxBytes?: number;
  /** Aborts the request as if there were no response. */
  stop?: AbortSignal;
}

export interface ServiceResponse {
  status: number;
  headers: Headers;
  /** Undefined if it is not JSON. */
  body: unknown;
}

/** @throws OracleError of the problem document; UNAUTHENTICATED for a rejected token; SERVICE_UNREACHABLE; CONFIG_INVALID naming `url` */
export async function fetchServiceJson(request: ServiceRequest): Promise<unknown> {
  const response = await sendServiceRequest(request);
  if (response.status >= 300 || response.body === undefined) throw parseServiceError(response, request.url);
  if (request.token !== undefined && isTokenRejected(response)) throw rejectedTokenError();
  return response.body;
}

/** Whether the service treated the client as anonymous because it rejected the token (RFC 6750, section 3.1). */
export function isTokenRejected({ headers }: Pick<ServiceResponse, 'headers'>): boolean {
  return headers.get('WWW-Authenticate')?.includes('error="invalid_token"') ?? false;
}

function rejectedTokenError(): OracleError {
  return new OracleError('UNAUTHENTICATED', 'The service rejected the access token: it has expired, was revoked or is not valid', {
    field: 'Authorization',
    suggestedAction: 'Log in again, or send the request without a token.',
  });
}

/** Returns a response of any status but a redirect. @throws OracleError SERVICE_UNREACHABLE; CONFIG_INVALID naming `url` for a redirect */
export async function sendServiceRequest(request: ServiceRequest): Promise<ServiceResponse> {
  const response = await sendWithoutRedirect(request);
  return { status: response.status, headers: response.headers, body: await readJsonBody(response, request) };
}

/** The unread body of a success. @throws OracleError as `fetchServiceJson` */
async function openServiceBody(request: ServiceRequest): Promise<AsyncIterable<Uint8Array>> {
  const response = await sendWithoutRedirect(request);
  if (response.status < 300 && response.body !== null) return response.body;
  const { status, headers } = response;
  throw parseServiceError({ status, headers, body: await readJsonBody(response, request) }, request.url);
}

async function sendWithoutRedirect(request: ServiceRequest): Promise<Response> {
  const response = await sendRequest(request);
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw foreignServiceError(request.url, 'it sends callers elsewhere, which is not followed');
  }
  return response;
}

export function parseServiceError({ status, headers, body }: ServiceResponse, url: string): OracleError {
  const problem = parseProblemDetails(body, headers.get('Retry-After'));
  if (problem !== undefined) return problem;
  if (status >= 500) return unreachableError(url, `answers with status ${status}`);
  return foreignServiceError(url, `it answers with status ${status} and no words of the service`);
}

async function sendRequest(request: ServiceRequest): Promise<Response> {
  const { url, path, token, body, deadlineMs, maxBytes = MAX_BYTES } = request;
  const headers = {
    Accept: 'application/json',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...request.headers,
  };
  try {
    const fetchService = createOperatorFetch({ base: url, timeoutMs: deadlineMs, maxBytes });
    return await fetchService(joinUrl(url, path), {
      headers,
      method: request.method ?? (body === undefined ? 'GET' : 'POST'),
      signal: request.stop,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (cause) {
    throw noAnswerError(url, deadlineMs, cause);
  }
}

async function readJsonBody(response: Response, request: ServiceRequest): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw readFailure(error, request);
  }
}

/** The error of a body that could not be read to its end. */
export function readFailure(error: unknown, { url, deadlineMs }: Pick<ServiceRequest, 'url' | 'deadlineMs'>): OracleError {
  if (error instanceof ResponseTooLargeError) return foreignServiceError(url, 'it answers with more than the service ever does');
  return noAnswerError(url, deadlineMs, error);
}

function noAnswerError(url: string, deadlineMs: number, cause: unknown): OracleError {
  const late = (cause as { name?: string }).name === 'TimeoutError';
  return unreachableError(url, late ? `did not answer within ${deadlineMs / 1_000} s` : 'does not answer', cause);
}

function unreachableError(url: string, what: string, cause?: unknown): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `The service at ${url} ${what}`, {
    suggestedAction: 'Try again in a minute; if it stays like this, look whether the service runs, and whether this is its address.',
    cause,
  });
}

function foreignServiceError(url: string, why: string): OracleError {
  return new OracleError('CONFIG_INVALID', `What answers at ${url} is not this service: ${why}`, {
    field: 'url',
    suggestedAction: 'Name the address of the service by --url, or by the setting that stands for it.',
  });
}

/** An absolute URL of this service, whose base may have a path and trailing slashes. @param path begins with a slash */
export function joinUrl(publicUrl: string, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}${path}`;
}

const MAX_TEXT_CHARS = 2_000;
const MAX_DETAILS = 20;

const boundedText = z.string().transform((whole) => whole.slice(0, MAX_TEXT_CHARS));
const PROBLEM = z.looseObject({
  code: boundedText,
  detail: boundedText,
  suggestedAction: boundedText.optional(),
  field: boundedText.optional(),
});

const STANDARD_MEMBERS = new Set('type title status detail instance success code retryable suggestedAction field'.split(' '));
/** `Retry-After` of the service when no time is known. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;

/** Parses a problem document (RFC 9457) of the service into its error; undefined for other bodies. */
export function parseProblemDetails(body: unknown, retryAfter: string | null): OracleError | undefined {
  const parsed = PROBLEM.safeParse(body);
  if (!parsed.success) return undefined;
  const { code, detail, suggestedAction, field } = parsed.data;
  const options = { suggestedAction, field, ...parseRetryAfter(code, retryAfter), ...parseDetails(parsed.data) };
  if (Object.hasOwn(ERROR_CODES, code)) return new OracleError(code as ErrorCode, detail, options);
  return new OracleError('INTERNAL', `${code}: ${detail}`, options);
}

function parseRetryAfter(code: string, retryAfter: string | null): Pick<OracleErrorOptions, 'retryAfterSeconds'> {
  if (retryAfter === null || !/^\d{1,6}$/.test(retryAfter)) return {};
  const seconds = Number(retryAfter);
  return code !== 'RATE_LIMITED' && seconds === DEFAULT_RETRY_AFTER_SECONDS ? {} : { retryAfterSeconds: seconds };
}

function parseDetails(problem: Record<string, unknown>): Pick<OracleErrorOptions, 'details'> {
  const details = Object.entries(problem)
    .filter(([name]) => !STANDARD_MEMBERS.has(name))
    .flatMap(([name, value]): [string, string | number | boolean | null][] => {
      if (typeof value === 'string') return [[name, value.slice(0, MAX_TEXT_CHARS)]];
      return typeof value === 'number' || typeof value === 'boolean' || value === null ? [[name, value]] : [];
    })
    .slice(0, MAX_DETAILS);
  return details.length === 0 ? {} : { details: Object.fromEntries(details) };
}

/** Bytes of a file of the service, as they arrive; the generator returns their SHA-256 as hex. @throws OracleError as `fetchServiceJson` */
export async function* downloadFromService(request: ServiceRequest): AsyncGenerator<Uint8Array, string> {
  const body = await openServiceBody(request);
  const hash = createHash('sha256');
  try {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
  } catch (error) {
    throw readFailure(error, request);
  }
  return hash.digest('hex');
}
