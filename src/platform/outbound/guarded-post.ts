import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { OracleError } from '../errors.ts';
import { type CheckedTarget, checkTarget, type TargetRules } from './target.ts';

export interface PostRequest {
  /** What somebody else named; it is checked here, right before the connection. */
  url: string;
  /** Headers besides `Host`, `Content-Length` and `Connection`; fit to be sent, without line breaks. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** For everything together: name look-up, connection, TLS, request and answer. */
  timeoutMs: number;
  rules: TargetRules;
  /** Ends the call before its time. */
  signal?: AbortSignal;
}

/** The status that was answered, a redirect being an answer as any other, and how long that took. */
export interface PostResult {
  status: number;
  durationMs: number;
  /** What the answer asked for, by RFC 9110, section 10.2.3: 0 for a time that has passed; null when it asked for nothing that can be read. */
  retryAfterSeconds: number | null;
}

type PostAnswer = Omit<PostResult, 'durationMs'>;

/** What is read of an answer, so that its sender can finish; nothing of it is kept. */
const MAX_BYTES_READ = 4_096;
const MAX_HEADER_BYTES = 8_192;

/**
 * The one way to call a URL that somebody else named. The connection goes to an address that was checked for this very call, so
 * that a name which leads elsewhere a moment later gains nothing; the certificate must be valid for the name. Follows no
 * redirect, uses no proxy, keeps no connection and no cookie.
 * @throws OracleError INPUT_INVALID naming `url` for a target that may not be called; TARGET_UNREACHABLE, with a `reason`, when
 * nobody answers in time or as HTTP; RATE_LIMITED when nothing was tried, since too many names are being looked up. None repeats
 * anything that the other side sent.
 */
export async function postGuarded(post: PostRequest): Promise<PostResult> {
  const started = performance.now();
  const deadline = AbortSignal.any([AbortSignal.timeout(post.timeoutMs), ...(post.signal === undefined ? [] : [post.signal])]);
  const target = await rejectOnAbort(deadline, checkTarget(post.url, post.rules, 'accept'));
  if (target.addresses.length === 0) throw unreachableError('ENOTFOUND');
  const answer = await readAnswer(openRequest(post, target), post.body, deadline);
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
    // An agent of its own: no connection and no TLS session is shared with another target, and no proxy of the environment.
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Said here, because an environment variable could turn it off.
    rejectUnauthorized: true,
    // RFC 6066: an address is no server name.
    servername: isIP(name) === 0 ? name : '',
  });
}

/** Answers every look-up of a connection with the addresses that were checked. */
function pinAddresses(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, done) => {
    if (all) done(null, found);
    else done(null, found[0]!.address, found[0]!.family);
  };
}

/** Sends the body and resolves to what was answered once the answer was read as far as it is. */
function readAnswer(request: ClientRequest, body: string, deadline: AbortSignal): Promise<PostAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
  let answer: PostAnswer | undefined;
  // Whoever got as far as a status has answered, however the rest comes or breaks off.
  const end = (error?: unknown) => {
    if (answer !== undefined) resolve(answer);
    else reject(deadline.aborted ? timeoutError() : unreachableError(getErrorCode(error)));
  };
  const giveUp = () => request.destroy();
  deadline.addEventListener('abort', giveUp, { once: true });
  request.on('error', end).on('close', end);
  request.on('response', (response) => {
    answer = { status: response.statusCode!, retryAfterSeconds: parseRetryAfter(response) };
    drainResponse(response.on('error', end).on('close', end), giveUp);
  });
  request.end(body);
  if (deadline.aborted) giveUp();
  return promise.finally(() => deadline.removeEventListener('abort', giveUp));
}

/** IMF-fixdate of RFC 9110, section 5.6.7, which alone may be sent. */
const HTTP_DATE = /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/;
const parseHttpDate = (date = '') => (HTTP_DATE.test(date) ? Date.parse(date) : Number.NaN);

/** A time is taken by the clock of whoever named it, where he says what that is. */
function parseRetryAfter({ headers: { 'retry-after': after, date } }: IncomingMessage): number | null {
  if (after === undefined) return null;
  if (/^\d{1,9}$/.test(after)) return Number(after);
  const seconds = (parseHttpDate(after) - parseHttpDate(date)) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}

function drainResponse(response: IncomingMessage, stop: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
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

/** The system's own word for what went wrong; no message, which could repeat what the other side sent. */
function getErrorCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'EFAILED';
}

const timeoutError = () => unreachableError('ETIMEDOUT');

// Without a cause: errors of the parser and of TLS carry bytes that the other side chose.
function unreachableError(reason: string): OracleError {
  return new OracleError('TARGET_UNREACHABLE', `The URL does not answer (${reason})`, {
    suggestedAction: 'Check that the receiver is up, answers in time, and has a certificate that is valid for its name.',
    details: { reason },
  });
}
