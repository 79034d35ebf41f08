import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { OracleError } from '../errors.ts';
import { type CheckedTarget, checkTarget, type TargetRules } from './target.ts';

export interface PostRequest {
  /** A client-supplied URL, checked right before the connection. */
  url: string;
  /** Headers besides `Host`, `Content-Length` and `Connection`, without line breaks. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Covers name lookup, connection, TLS, request and response. */
  timeoutMs: number;
  rules: TargetRules;
  signal?: AbortSignal;
  /** Returns the answer's headers and the beginning of its body, for protocols in which they count. */
  keepsAnswer?: true;
}

export interface PostResult {
  /** A redirect is a response like any other. */
  status: number;
  durationMs: number;
  /** From `Retry-After` (RFC 9110, section 10.2.3): 0 for a past time, null if absent or malformed. */
  retryAfterSeconds: number | null;
  /** Bytes of the receiver, which belong in no log, error or record. Only with `keepsAnswer`. */
  answer?: { headers: IncomingHttpHeaders; text: string };
}

type PostAnswer = Omit<PostResult, 'durationMs'>;

/** Response bytes read so that the sender can finish. */
const MAX_BYTES_READ = 4_096;
const MAX_HEADER_BYTES = 8_192;

/**
 * The only way to call a client-supplied URL. Connects to an address checked for this request, which defeats DNS rebinding. Errors contain
 * nothing from the receiver. @throws OracleError INPUT_INVALID naming `url`; TARGET_UNREACHABLE; RATE_LIMITED, with nothing sent
 */
export async function postGuarded(post: PostRequest): Promise<PostResult> {
  const started = performance.now();
  const deadline = AbortSignal.any([AbortSignal.timeout(post.timeoutMs), ...(post.signal === undefined ? [] : [post.signal])]);
  const target = await rejectOnAbort(deadline, checkTarget(post.url, post.rules, 'accept'));
  if (target.addresses.length === 0) throw unreachableError('ENOTFOUND');
  const answer = await readAnswer(openRequest(post, target), post, deadline);
  return { ...answer, durationMs: Math.round(performance.now() - started) };
}

function openRequest({ headers, body }: PostRequest, { url, addresses }: CheckedTarget): ClientRequest {
  const { protocol, hostname, host, port, pathname, search } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const request = protocol === 'https:' ? requestHttps : requestHttp;
  return request({
    method: 'POST',
    hostname: name,
    port: port === '' ? undefined : Number(port),
    path: `${pathname}${search}`,
    headers: { ...headers, Host: host, 'Content-Length': Buffer.byteLength(body) },
    lookup: pinAddresses(addresses),
    // No agent: shares no connection or TLS session with another target, and ignores the environment proxy.
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Explicit: an environment variable could disable it.
    rejectUnauthorized: true,
    // RFC 6066: an IP address is no server name.
    servername: isIP(name) === 0 ? name : '',
  });
}

/** Resolves every lookup of the connection to the checked addresses. */
function pinAddresses(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, done) => {
    if (all) done(null, found);
    else done(null, found[0]!.address, found[0]!.family);
  };
}

function readAnswer(request: ClientRequest, { body, keepsAnswer }: PostRequest, deadline: AbortSignal): Promise<PostAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
  let response: IncomingMessage | undefined;
  const chunks: Buffer[] = [];
  // After a status line the response counts, even if its body breaks off.
  const end = (error?: unknown) => {
    if (response !== undefined) resolve(toAnswer(response, keepsAnswer ? chunks : null));
    else reject(deadline.aborted ? timeoutError() : unreachableError(getErrorCode(error)));
  };
  const giveUp = () => request.destroy();
  deadline.addEventListener('abort', giveUp, { once: true });
  request.on('error', end).on('close', end);
  request.on('response', (begun) => {
    response = begun;
    readResponse(begun.on('error', end).on('close', end), chunks, giveUp);
  });
  request.end(body);
  if (deadline.aborted) giveUp();
  return promise.finally(() => deadline.removeEventListener('abort', giveUp));
}

function toAnswer(response: IncomingMessage, chunks: readonly Buffer[] | null): PostAnswer {
  const { statusCode, headers } = response;
  const answer = chunks === null ? {} : { answer: { headers, text: Buffer.concat(chunks).toString('utf8') } };
  return { status: statusCode!, retryAfterSeconds: parseRetryAfter(response), ...answer };
}

/** IMF-fixdate, the only format that senders may generate (RFC 9110, section 5.6.7). */
const HTTP_DATE = /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/;
const parseHttpDate = (date = '') => (HTTP_DATE.test(date) ? Date.parse(date) : Number.NaN);

/** A date is relative to the receiver's clock, from its `Date` header. */
function parseRetryAfter({ headers: { 'retry-after': after, date } }: IncomingMessage): number | null {
  if (after === undefined) return null;
  if (/^\d{1,9}$/.test(after)) return Number(after);
  const seconds = (parseHttpDate(after) - parseHttpDate(date)) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}

function readResponse(response: IncomingMessage, chunks: Buffer[], stop: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes >= MAX_BYTES_READ) stop();
  });
}

async function rejectOnAbort<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(timeoutError());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

/** The system's error code only: a message could contain bytes of the receiver. */
function getErrorCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'EFAILED';
}

const timeoutError = () => unreachableError('ETIMEDOUT');

// Without a cause: parser and TLS errors contain bytes of the receiver.
function unreachableError(reason: string): OracleError {
  return new OracleError('TARGET_UNREACHABLE', `The URL does not answer (${reason})`, {
    suggestedAction: 'Check that the receiver is up, answers in time, and has a certificate that is valid for its name.',
    details: { reason },
  });
}
