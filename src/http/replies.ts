import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import type { RateLimitDecision } from '../auth/rate-limits.ts';
import { OracleError } from '../errors.ts';
import { isDatabaseUnreachable } from '../platform/mongo.ts';
import { joinUrl } from '../platform/service-client.ts';
import { hasPaymentPayload, PAYMENT_HEADERS } from './problems.ts';
import { formatRateLimitHeaders, getClientAddress, setCountedUnits, toAddressKey } from './request-counter.ts';
import { EncodedText, MEMOISED_UNITS, type Reply } from './route.ts';
import { type AppOptions, chooseRequestId, getRoutePath } from './security.ts';
import { type ClientConnection, getConnection, isHandshake, NEGLIGIBLE_BYTES, type ReleaseSlot, type ReserveKind } from './sockets.ts';

export const CANONICAL_RULE = '`Link` names the canonical address (RFC 6596).';

/** Of a reply at another path than its own. */
export function buildCanonicalLink(publicUrl: string, path: string): { Link: string } {
  return { Link: `<${joinUrl(publicUrl, path)}>; rel="canonical"` };
}

/** `Link` header with `rel="next"` (RFC 8288). @param next query of the next page; null on the last page */
export function buildNextPageHeaders(
  publicUrl: string,
  path: string,
  next: Record<string, string | number> | null,
): Record<string, string> {
  if (next === null) return {};
  const query = new URLSearchParams(Object.entries(next).map(([name, value]): [string, string] => [name, String(value)]));
  return { Link: `<${publicUrl.replace(/\/$/, '')}${path}?${query}>; rel="next"` };
}

/** A cacheable reply that is constant within a process: rendered, tagged and compressed on the first request. A failed build is retried. */
export function createStaticReply(
  buildText: () => string,
  buildHeaders: () => Record<string, string>,
  buildEtag: (text: string) => string = buildStrongEtag,
): () => Reply<never> {
  let reply: Reply<never> | undefined;
  return () => {
    if (reply === undefined) {
      const text = buildText();
      reply = { headers: { ...buildHeaders(), ETag: buildEtag(text) }, encoded: new EncodedText(text) };
    }
    return reply;
  };
}

/** A binary file, read on the first request. */
export function createFileReply(file: URL, headers: Record<string, string>): () => Reply<never> {
  let reply: Reply<never> | undefined;
  return () => {
    if (reply === undefined) {
      const bytes = readFileSync(file);
      async function* read() {
        yield bytes;
      }
      reply = { headers: { ...headers, ETag: buildStrongEtag(bytes) }, streamed: { bytes: bytes.length, encoding: null, read } };
    }
    return reply;
  };
}

/** Members that change with time alone. */
const VOLATILE_MEMBERS = new Set(['timestamp', 'asOf', 'ageSeconds', 'ageDays']);

export function buildWeakEtag(body: object): string {
  const stable = JSON.stringify(body, (name, value) => (VOLATILE_MEMBERS.has(name) ? undefined : value));
  return `W/"${digest(stable)}"`;
}

/** Strong entity tag: equal tags, equal bytes. */
export function buildStrongEtag(text: string | Buffer): string {
  return `"${digest(text)}"`;
}

/** Whether `If-None-Match` lists this tag, by the weak comparison of RFC 9110, section 8.8.3.2. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}

function digest(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** A JSON reply with the weak entity tag of its body. */
export function toTaggedReply<B extends object>(body: B, headers: Record<string, string> = {}) {
  return { headers: { ...headers, ETag: buildWeakEtag(body) }, body };
}

/**
 * The offered media type of the highest quality in an `Accept` header (RFC 9110, section 12.5.1); the first offer wins a tie, and where
 * none is acceptable. Express `accepts` decides ties by the header, and rejects `text/markdown; charset=utf-8`, which clients send.
 */
export function negotiateMediaType<Type extends string>(accept: string, offered: readonly [Type, ...Type[]]): Type {
  const qualities = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [range, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    // 1 where the parameter is absent or malformed.
    const quality = text !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 1;
    if (!qualities.has(range)) qualities.set(range, quality);
  }
  // Of the most specific range that matches; 0 without a match.
  const getQuality = (type: string) => qualities.get(type) ?? qualities.get(`${type.split('/')[0]}/*`) ?? qualities.get('*/*') ?? 0;
  const rated = offered.map((type) => ({ type, quality: getQuality(type) }));
  return rated.reduce((best, candidate) => (candidate.quality > best.quality ? candidate : best)).type;
}

const MAX_REPLIES = 256;

/** Replies that depend on the tier of the caller alone: computed once for concurrent requests, and used again until they are a second old. */
export class TierReplies {
  readonly #replies = new LRUCache<string, Promise<Reply>>({ max: MAX_REPLIES, ttl: MAX_ANSWER_AGE_MS, ttlAutopurge: true });

  has(key: string): boolean {
    return this.#replies.has(key);
  }

  /** @param key everything the reply depends on */
  get(key: string, compute: () => Promise<Reply>): Promise<Reply> {
    const known = this.#replies.get(key);
    if (known !== undefined) return known;
    const reply = compute();
    this.#replies.set(key, reply);
    reply.catch(() => this.#replies.delete(key));
    return reply;
  }
}

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

interface AnswerCacheOptions extends Pick<AppOptions, 'observeRequest' | 'limits' | 'stopping' | 'log'> {
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
    const ip = getAddress(request);
    const send = (decision: RateLimitDecision | null) => {
      const connection = getConnection(request.socket);
      const isAdmitted = decision?.allowed !== false && (connection?.isProxied !== true || tryAdmitProxied(connection, ip, response));
      if (!isAdmitted) {
        if (decision !== null) setCountedUnits(response, { decision, units: MEMOISED_UNITS });
        return app(request, response);
      }
      const requestId = chooseRequestId(request);
      sendAnswer(request, response, answer, { 'X-Request-Id': requestId, ...(decision && formatRateLimitHeaders([decision])) });
      const ended = { method: 'GET', route: answer.route, status: response.statusCode };
      observeRequest?.({ ...ended, tier: 'public', ms: now() - startedAtMs });
      log.debug({ requestId, ip, ...ended, reused: true }, 'request');
    };
    const decision = limits === undefined ? null : limits.public.takeLeased(ip, MEMOISED_UNITS);
    if (limits === undefined || decision !== null) return send(decision);
    // Without a count the app counts, and answers with the error.
    limits.public.take(ip, MEMOISED_UNITS).then(send, () => app(request, response));
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
    const charset = typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';
    const buffer = typeof chunk === 'string' ? Buffer.from(chunk, charset) : Buffer.from(chunk as Uint8Array);
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
  const ofBody = ['Content-Type', 'Content-Encoding'].map((name) => [name, response.getHeader(name)] as const);
  const etag = response.getHeader('ETag');
  return {
    headers: flatten(kept),
    bodyHeaders: flatten([...ofBody, ['Content-Length', body.length]]),
    etag: typeof etag === 'string' ? etag : undefined,
    latin1Body: body.toString('latin1'),
    route: getRoutePath(request),
  };
}

function flatten(headers: readonly (readonly [string, number | string | string[] | undefined])[]): string[] {
  return headers.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]));
}

/** Writes all headers at once: one by one they would take longer than everything else here. */
function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: StoredAnswer, own: Record<string, string>): void {
  const { headers, bodyHeaders, etag, latin1Body } = answer;
  const ifNoneMatch = request.headers['if-none-match'];
  const isUnchanged = ifNoneMatch !== undefined && etag !== undefined && matchesEtag(ifNoneMatch, etag);
  response.writeHead(isUnchanged ? 304 : 200, [...headers, ...Object.entries(own).flat(), ...(isUnchanged ? [] : bodyHeaders)]);
  response.end(isUnchanged ? '' : latin1Body, 'latin1');
}

type Identify = AppOptions['identify'];

const PROBES = new Set(['/health', '/ready']);

/**
 * Admits the first request of a connection without a slot to the reserve where it is a health probe, has a valid token or carries a
 * payment of a known form; the connection closes after it. Requests of trusted proxies acquire a slot each, for the forwarded address.
 * @throws by the handler: OracleError OVERLOADED
 */
export function createConnectionGate({ identify }: { identify: Identify }): RequestHandler {
  return (request, response, next) => {
    const connection = getConnection(request.socket);
    if (connection === undefined) return next();
    const { isProxied } = connection;
    if (isProxied ? tryAdmitProxied(connection, getClientAddress(request), response) : !connection.isProvisional) return next();
    if (!isProxied) response.setHeader('Connection', 'close');
    return acquireReserveSlot(request, connection, identify).then((releaseSlot) => {
      if (isProxied) holdSlot(connection, response, releaseSlot);
      else connection.assignSlot(releaseSlot);
      next();
    });
  };
}

/** Acquires a slot for one request of a trusted proxy, from the forwarded address; false where only the reserve is left. */
function tryAdmitProxied(connection: ClientConnection, address: string, response: ServerResponse): boolean {
  connection.address = address;
  const releaseSlot = connection.budget.acquireGeneral(address);
  if (releaseSlot !== null) holdSlot(connection, response, releaseSlot);
  return releaseSlot !== null;
}

function holdSlot(connection: ClientConnection, response: ServerResponse, releaseSlot: ReleaseSlot): void {
  if (response.closed) return void releaseSlot();
  connection.assignSlot(releaseSlot);
  response.once('close', () => connection.release());
}

async function acquireReserveSlot(request: Request, { budget, address }: ClientConnection, identify: Identify): Promise<ReleaseSlot> {
  const kind = await getReserveKind(request, identify);
  const releaseSlot = kind === null ? null : budget.acquireReserve(kind, address);
  if (releaseSlot !== null) return releaseSlot;
  throw new OracleError('OVERLOADED', 'All connections available to your network or to anonymous clients are in use', {
    suggestedAction: 'Close unused connections, or send a token of POST /api/svc/oracle/verify.',
    retryAfterSeconds: 10,
  });
}

async function getReserveKind(request: Request, identify: Identify): Promise<ReserveKind | null> {
  if (PROBES.has(request.path) && (request.method === 'GET' || request.method === 'HEAD')) return 'probe';
  // The handshake handler verifies the token or ticket before any other work.
  if (isHandshake(request) && (request.query.token ?? request.query.ticket) !== undefined) return 'token';
  if (hasPaymentPayload((name) => request.get(name))) return 'payment';
  const authorization = request.get('Authorization');
  if (authorization === undefined) return null;
  const caller = await identify(authorization).catch(() => null);
  return caller?.wallet === undefined ? null : 'token';
}

/**
 * A reply that is the same for every caller: rendered when its key has changed. Without the database the last one stays.
 * @param readKey of the state that the reply depends on: equal keys, equal replies
 */
export function createRevisionReply({ readKey, render }: { readKey(): Promise<string>; render(): Promise<Reply<never>> }) {
  let newest: { key: string; reply: Promise<Reply<never>> } | null = null;
  let last: Reply<never> | null = null;
  return async (): Promise<Reply<never>> => {
    try {
      const key = await readKey();
      if (newest?.key !== key) {
        const next = { key, reply: render() };
        newest = next;
        next.reply.catch(() => {
          if (newest === next) newest = null;
        });
      }
      last = await newest!.reply;
      return last;
    } catch (error) {
      if (last === null || !isDatabaseUnreachable(error)) throw error;
      return last;
    }
  };
}
