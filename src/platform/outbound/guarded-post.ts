import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { OracleError } from '../../errors.ts';
import { checkTarget, type Target, type TargetRules } from './target.ts';

export interface GuardedPost {
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
export interface Posted {
  status: number;
  ms: number;
  /** What the answer asked for, by RFC 9110, section 10.2.3: 0 for a time that has passed; null when it asked for nothing that can be read. */
  retryAfterSeconds: number | null;
}

type Answer = Omit<Posted, 'ms'>;

/** What is read of an answer, so that its sender can finish; nothing of it is kept. */
const MOST_BYTES_READ = 4_096;
const MOST_HEADER_BYTES = 8_192;

/**
 * The one way to call a URL that somebody else named. The connection goes to an address that was checked for this very call, so
 * that a name which leads elsewhere a moment later gains nothing; the certificate must be valid for the name. Follows no
 * redirect, uses no proxy, keeps no connection and no cookie.
 * @throws OracleError INPUT_INVALID naming `url` for a target that may not be called; TARGET_UNREACHABLE, with a `reason`, when
 * nobody answers in time or as HTTP; RATE_LIMITED when nothing was tried, since too many names are being looked up. None repeats
 * anything that the other side sent.
 */
export async function guardedPost(post: GuardedPost): Promise<Posted> {
  const started = performance.now();
  const deadline = AbortSignal.any([AbortSignal.timeout(post.timeoutMs), ...(post.signal === undefined ? [] : [post.signal])]);
  const target = await unlessAborted(deadline, checkTarget(post.url, post.rules, 'accept'));
  if (target.addresses.length === 0) throw unreachable('ENOTFOUND');
  const answer = await answerOf(open(post, target), post.body, deadline);
  return { ...answer, ms: Math.round(performance.now() - started) };
}

function open({ headers, body }: GuardedPost, { url, addresses }: Target): ClientRequest {
  const { protocol, hostname, host, port, pathname, search } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const request = protocol === 'https:' ? requestHttps : requestHttp;
  return request({
    method: 'POST',
    hostname: name,
    port: port === '' ? undefined : Number(port),
    path: `${pathname}${search}`,
    headers: { ...headers, Host: host, 'Content-Length': Buffer.byteLength(body) },
    lookup: pinned(addresses),
    // An agent of its own: no connection and no TLS session is shared with another target, and no proxy of the environment.
    agent: false,
    maxHeaderSize: MOST_HEADER_BYTES,
    // Said here, because an environment variable could turn it off.
    rejectUnauthorized: true,
    // RFC 6066: an address is no server name.
    servername: isIP(name) === 0 ? name : '',
  });
}

/** Answers every look-up of a connection with the addresses that were checked. */
function pinned(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, done) => {
    if (all) done(null, found);
    else done(null, found[0]!.address, found[0]!.family);
  };
}

/** Sends the body and resolves to what was answered once the answer was read as far as it is. */
function answerOf(request: ClientRequest, body: string, deadline: AbortSignal): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let answer: Answer | undefined;
  // Whoever got as far as a status has answered, however the rest comes or breaks off.
  const end = (error?: unknown) => {
    if (answer !== undefined) resolve(answer);
    else reject(deadline.aborted ? late() : unreachable(reasonOf(error)));
  };
  const giveUp = () => request.destroy();
  deadline.addEventListener('abort', giveUp, { once: true });
  request.on('error', end).on('close', end);
  request.on('response', (response) => {
    answer = { status: response.statusCode!, retryAfterSeconds: retryAfterOf(response) };
    drain(response.on('error', end).on('close', end), giveUp);
  });
  request.end(body);
  if (deadline.aborted) giveUp();
  return promise.finally(() => deadline.removeEventListener('abort', giveUp));
}

/** IMF-fixdate of RFC 9110, section 5.6.7, which alone may be sent. */
const HTTP_DATE = /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/;
const timeOf = (date = '') => (HTTP_DATE.test(date) ? Date.parse(date) : Number.NaN);

/** A time is taken by the clock of whoever named it, where he says what that is. */
function retryAfterOf({ headers: { 'retry-after': after, date } }: IncomingMessage): number | null {
  if (after === undefined) return null;
  if (/^\d{1,9}$/.test(after)) return Number(after);
  const seconds = (timeOf(after) - timeOf(date)) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}

function drain(response: IncomingMessage, stop: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes >= MOST_BYTES_READ) stop();
  });
}

async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(late());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

/** The system's own word for what went wrong; no message, which could repeat what the other side sent. */
function reasonOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'EFAILED';
}

const late = () => unreachable('ETIMEDOUT');

// Without a cause: errors of the parser and of TLS carry bytes that the other side chose.
function unreachable(reason: string): OracleError {
  return new OracleError('TARGET_UNREACHABLE', `The URL does not answer (${reason})`, {
    suggestedAction: 'Check that the receiver is up, answers in time, and has a certificate that is valid for its name.',
    details: { reason },
  });
}
