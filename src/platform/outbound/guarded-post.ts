import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { getErrorCode, openGuardedRequest, rejectOnAbort, timeoutError, unreachableError } from './guarded/guarded-request.ts';
import { checkTarget, type TargetRules } from './target.ts';

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

/**
 * The only way to post to a client-supplied URL. Connects to an address checked for this request, which defeats DNS rebinding. Errors contain
 * nothing from the receiver. @throws OracleError INPUT_INVALID naming `url`; TARGET_UNREACHABLE; RATE_LIMITED, with nothing sent
 */
export async function postGuarded(post: PostRequest): Promise<PostResult> {
  const started = performance.now();
  const deadline = AbortSignal.any([AbortSignal.timeout(post.timeoutMs), ...(post.signal === undefined ? [] : [post.signal])]);
  const target = await rejectOnAbort(deadline, checkTarget(post.url, post.rules, 'accept'));
  if (target.addresses.length === 0) throw unreachableError('ENOTFOUND');
  const headers = { ...post.headers, 'Content-Length': Buffer.byteLength(post.body) };
  const answer = await readAnswer(openGuardedRequest(target, { method: 'POST', headers }), post, deadline);
  return { ...answer, durationMs: Math.round(performance.now() - started) };
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
