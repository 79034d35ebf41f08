import { urlAt } from '../../agent-card/url.ts';
import { OracleError } from '../errors.ts';
import { errorOfProblem } from './remote-problem.ts';

/** The largest answer, a page of the record, has some hundred kilobytes. */
const LARGEST_ANSWER_BYTES = 4 * 1024 * 1024;

export interface RemoteRequest {
  /** The service. */
  url: string;
  /** Begins with a slash. */
  path: string;
  /** Sent to the service and to nobody else. */
  token: string | undefined;
  /** Sent as JSON; unset: a GET. */
  body?: Record<string, unknown>;
  /** For the whole answer. */
  deadlineMs: number;
}

/**
 * What the service answers, as JSON.
 * @throws OracleError as the service tells it; SERVICE_UNREACHABLE; CONFIG_INVALID naming `url` where something else answers
 */
export async function askService(request: RemoteRequest): Promise<unknown> {
  const response = await send(request);
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw notTheService(request.url, 'it sends callers elsewhere, which is not followed');
  }
  const body = await jsonOf(response, request);
  if (response.ok && body !== undefined) return body;
  const told = errorOfProblem(body, response.headers.get('Retry-After'));
  if (told !== undefined) throw told;
  if (response.status >= 500) throw unreachable(request.url, `answers with status ${response.status}`);
  throw notTheService(request.url, `it answers with status ${response.status} and no words of the service`);
}

async function send({ url, path, token, body, deadlineMs }: RemoteRequest): Promise<Response> {
  const headers = {
    Accept: 'application/json',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  const signal = AbortSignal.timeout(deadlineMs);
  const request = { headers, signal, redirect: 'manual' as const };
  try {
    if (body === undefined) return await fetch(urlAt(url, path), request);
    return await fetch(urlAt(url, path), { ...request, method: 'POST', body: JSON.stringify(body) });
  } catch (cause) {
    throw silent(url, deadlineMs, cause);
  }
}

/** Undefined where it is no JSON. */
async function jsonOf(response: Response, { url, deadlineMs }: RemoteRequest): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > LARGEST_ANSWER_BYTES) throw notTheService(url, 'it answers with more than the service ever does');
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof OracleError ? error : silent(url, deadlineMs, error);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

function silent(url: string, deadlineMs: number, cause: unknown): OracleError {
  const late = (cause as { name?: string }).name === 'TimeoutError';
  return unreachable(url, late ? `did not answer within ${deadlineMs / 1_000} s` : 'does not answer', cause);
}

function unreachable(url: string, what: string, cause?: unknown): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `The service at ${url} ${what}`, {
    suggestedAction: 'Try again in a minute; if it stays like this, look whether the service runs, and whether this is its address.',
    cause,
  });
}

function notTheService(url: string, why: string): OracleError {
  return new OracleError('CONFIG_INVALID', `What answers at ${url} is not this service: ${why}`, {
    field: 'url',
    suggestedAction: 'Name the address of the service by --url or ORACLE_URL.',
  });
}
