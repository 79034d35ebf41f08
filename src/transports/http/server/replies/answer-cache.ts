import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { RateLimitDecision, RateLimits } from '../../../../auth/rate-limit/rate-limits.ts';
import type { Log } from '../../../../platform/log.ts';
import { PAYMENT_HEADERS } from '../payments/payment-headers.ts';
import { MEMOISED_UNITS } from '../route.ts';
import { toAddressKey } from '../security/client-address.ts';
import { tryAdmitProxied } from '../security/connection-gate.ts';
import { formatRateLimitHeaders, setCountedUnits } from '../security/request-counter.ts';
import { chooseRequestId, type EndedRequest, getRoutePath } from '../security/request-log.ts';
import { getConnection } from '../sockets/client-connection.ts';
import { NEGLIGIBLE_BYTES } from '../sockets/unsent-bytes-monitor.ts';
import { matchesEtag } from './etag.ts';

/** The most time between a change and the last answer without it. */
export const MAX_ANSWER_AGE_MS = 1_000;

const MAX_CACHED_BYTES = 8 * 2 ** 20;
const MAX_KEY_CHARS = 1_024;

/** Headers of one request, not of the answer. */
const PER_REQUEST_HEADERS = new Set(['x-request-id', 'ratelimit', 'ratelimit-policy', 'date', 'connection', 'keep-alive']);
const BODY_HEADERS = new Set(['content-length', 'content-type', 'content-encoding', 'transfer-encoding']);
/** Headers that change the answer, or are handled by no answer of the cache. */
const EXCLUDING_HEADERS = ['authorization', 'if-modified-since', 'range', 'expect', ...PAYMENT_HEADERS].map((name) => name.toLowerCase());

const reusable = new WeakSet<ServerResponse>();

/** Allows the answer to be sent again, to any anonymous client. */
export function markReusable(response: ServerResponse): void {
  reusable.add(response);
}

interface StoredAnswer {
  /** When its request came, ms of the monotonic clock. */
  readAtMs: number;
  /** Names and values by turns. */
  headers: readonly string[];
  /** Those that a 304 has not. */
  bodyHeaders: readonly string[];
  etag: string | undefined;
  /** A character for each byte, so that headers and body leave in one write, which encodes nothing. */
  latin1Body: string;
  route: string;
}

interface Reuse {
  request: IncomingMessage;
  response: ServerResponse;
  answer: StoredAnswer;
  /** Rate-limit key of the client address. */
  ip: string;
  /** Of the monotonic clock. */
  startedAtMs: number;
}

type Header = readonly [name: string, value: string];

interface AnswerCacheOptions {
  observeRequest?: ((ended: EndedRequest) => void) | undefined;
  limits?: RateLimits | undefined;
  stopping?: AbortSignal | undefined;
  log: Log;
  /** Rate-limit key of the address that a trusted proxy has forwarded. */
  getForwardedAddress(request: IncomingMessage): string;
  now?(): number;
}

/**
 * Sends the bytes of an earlier answer to the same anonymous GET while they are at most `MAX_ANSWER_AGE_MS` old: after the rate limit, and
 * before `app`, which answers all other requests. Answers of callers with a token or a payment are neither stored nor sent.
 */
export function createAnswerCache(
  { limits, stopping, log, observeRequest, getForwardedAddress, now = () => performance.now() }: AnswerCacheOptions,
  app: RequestListener,
): RequestListener {
  const answers = new LRUCache<string, StoredAnswer>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ latin1Body }) => latin1Body.length + 4_096,
  });

  function send({ request, response, answer, ip, startedAtMs }: Reuse, decision: RateLimitDecision | null): void {
    const connection = getConnection(request.socket);
    const isAdmitted = decision?.allowed !== false && (connection?.isProxied !== true || tryAdmitProxied(connection, ip, response));
    if (!isAdmitted) {
      if (decision !== null) setCountedUnits(response, { decision, units: MEMOISED_UNITS });
      app(request, response);
      return;
    }
    const requestId = chooseRequestId(request);
    sendAnswer(request, response, answer, [
      ['X-Request-Id', requestId],
      ...(decision === null ? [] : Object.entries(formatRateLimitHeaders([decision]))),
    ]);
    const ended = { method: 'GET', route: answer.route, status: response.statusCode };
    observeRequest?.({ ...ended, tier: 'public', ms: now() - startedAtMs });
    log.debug({ requestId, ip, ...ended, reused: true }, 'request');
  }

  function getAddress(request: IncomingMessage): string {
    const connection = getConnection(request.socket);
    if (connection?.isProxied === true) return getForwardedAddress(request);
    return connection?.address ?? toAddressKey(request.socket.remoteAddress ?? '') ?? 'unknown';
  }

  return (request, response) => {
    const key = stopping?.aborted ? null : toKey(request);
    if (key === null) return app(request, response);
    const startedAtMs = now();
    const answer = answers.get(key);
    if (answer === undefined || startedAtMs - answer.readAtMs > MAX_ANSWER_AGE_MS) {
      captureAnswer(request, response, (captured) => void answers.set(key, { readAtMs: startedAtMs, ...captured }));
      return app(request, response);
    }
    const reuse = { request, response, answer, ip: getAddress(request), startedAtMs };
    const decision = limits === undefined ? null : limits.public.takeLeased(reuse.ip, MEMOISED_UNITS);
    if (limits === undefined || decision !== null) return send(reuse, decision);
    // Without a count the app counts, and answers with the error.
    limits.public.take(reuse.ip, MEMOISED_UNITS).then(
      (taken) => send(reuse, taken),
      () => app(request, response),
    );
  };
}

/** Null for a request whose answer depends on more than its URL and the negotiated form, or that passes a gate first. */
function toKey(request: IncomingMessage): string | null {
  const { method, url, headers, socket } = request;
  if (method !== 'GET' || EXCLUDING_HEADERS.some((name) => headers[name] !== undefined)) return null;
  const connection = getConnection(socket);
  // An untrusted proxy is warned of by the app.
  if (connection?.isProvisional || (connection?.isProxied !== true && headers['x-forwarded-for'] !== undefined)) return null;
  const key = [url, headers.accept ?? '', headers['accept-encoding'] ?? '', headers.origin === undefined ? '' : 'cross-origin'].join('\n');
  return key.length > MAX_KEY_CHARS ? null : key;
}

function captureAnswer(request: IncomingMessage, response: ServerResponse, store: (answer: Omit<StoredAnswer, 'readAtMs'>) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const keep = (chunk: unknown, encoding: unknown) => {
    if (!reusable.has(response) || bytes > NEGLIGIBLE_BYTES || chunk == null || typeof chunk === 'function') return;
    const buffer =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk as Uint8Array);
    bytes += buffer.length;
    chunks.push(buffer);
  };
  const write = response.write.bind(response) as (...sent: unknown[]) => boolean;
  const end = response.end.bind(response) as (...sent: unknown[]) => ServerResponse;
  response.write = (...sent: unknown[]) => {
    keep(sent[0], sent[1]);
    return write(...sent);
  };
  response.end = (...sent: unknown[]) => {
    keep(sent[0], sent[1]);
    const ended = end(...sent);
    const isStorable = reusable.has(response) && response.statusCode === 200 && bytes <= NEGLIGIBLE_BYTES;
    if (isStorable) store(toStoredAnswer(request, response, Buffer.concat(chunks)));
    return ended;
  };
}

function toStoredAnswer(request: IncomingMessage, response: ServerResponse, body: Buffer): Omit<StoredAnswer, 'readAtMs'> {
  const kept = Object.entries(response.getHeaders()).filter(([name]) => !PER_REQUEST_HEADERS.has(name) && !BODY_HEADERS.has(name));
  const etag = response.getHeader('ETag');
  return {
    headers: flatten(kept),
    bodyHeaders: flatten([
      ['Content-Type', response.getHeader('Content-Type')],
      ['Content-Encoding', response.getHeader('Content-Encoding')],
      ['Content-Length', body.length],
    ]),
    etag: typeof etag === 'string' ? etag : undefined,
    latin1Body: body.toString('latin1'),
    route: getRoutePath(request),
  };
}

function flatten(headers: readonly (readonly [string, number | string | string[] | undefined])[]): string[] {
  return headers.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]));
}

/** Writes all headers at once: one by one they would take longer than everything else here. */
function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: StoredAnswer, ownHeaders: readonly Header[]): void {
  const { headers, bodyHeaders, etag, latin1Body } = answer;
  const ifNoneMatch = request.headers['if-none-match'];
  const isUnchanged = ifNoneMatch !== undefined && etag !== undefined && matchesEtag(ifNoneMatch, etag);
  response.writeHead(isUnchanged ? 304 : 200, [...headers, ...ownHeaders.flat(), ...(isUnchanged ? [] : bodyHeaders)]);
  response.end(isUnchanged ? '' : latin1Body, 'latin1');
}
