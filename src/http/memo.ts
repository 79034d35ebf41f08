import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { RateLimitDecision } from '../auth/rate-limits.ts';
import { toAddressKey } from '../platform/budgets.ts';
import { isDatabaseUnreachable } from '../platform/mongo.ts';
import { matchesEtag, type Reply } from './replies.ts';
import { type AppOptions, chooseRequestId, formatRateLimitHeaders, getRoutePath, PAYMENT_HEADERS } from './request.ts';
import { MEMOISED_UNITS } from './route.ts';
import { getConnection, NEGLIGIBLE_BYTES } from './sockets.ts';

/** The most time between a change and the last answer without it. */
export const MAX_ANSWER_AGE_MS = 1_000;

const MAX_BYTES = 24 * 2 ** 20;
/** Of an entry, beside its text. */
const ENTRY_BYTES = 4_096;
const MAX_KEY_CHARS = 1_024;

/** What an answer was made from. */
interface Made {
  /** Null: it is current for `MAX_ANSWER_AGE_MS` after `atMs`. Otherwise while this is the state. */
  state: string | null;
  /** When it was begun, ms of the monotonic clock. */
  atMs: number;
}

/** An answer as it left, for anonymous requests with the same headers. */
interface SentAnswer {
  /** Names and values by turns. */
  headers: readonly string[];
  /** Those that a 304 has not. */
  bodyHeaders: readonly string[];
  etag: string | undefined;
  /** A character for each byte, so that headers and body leave in one write, which encodes nothing. */
  latin1Body: string;
  route: string;
}

type Entry = { made: Made } & ({ reply: Promise<Reply>; sent?: never } | { sent: SentAnswer; reply?: never });

interface MemoOptions {
  /** Equal states, equal answers of the routes that declare so. */
  readState(): string;
  now?(): number;
}

/**
 * Answers that are sent more than once: replies by operation, URL, `Accept` and tier, and the bytes that anonymous requests get. None names
 * its caller. An answer is current while the state is that from which it was made, or for `MAX_ANSWER_AGE_MS` where the state is not all.
 */
export class AnswerMemo {
  readonly now: () => number;
  readonly #readState: () => string;
  readonly #entries = new LRUCache<string, Entry>({ maxSize: MAX_BYTES, maxEntrySize: MAX_BYTES / 4 });

  constructor({ readState, now = () => performance.now() }: MemoOptions) {
    this.#readState = readState;
    this.now = now;
  }

  /**
   * The reply of a key, computed once for concurrent requests. Without the database the last one of a state stays.
   * @param key everything the reply depends on, beside what changes
   */
  async share(key: string, changes: 'state' | 'second', compute: () => Promise<Reply>): Promise<{ made: Made; reply: Reply }> {
    try {
      for (;;) {
        const made = { state: changes === 'state' ? this.#readState() : null, atMs: this.now() };
        const known = this.#entries.get(key);
        if (known?.reply === undefined || !this.#isCurrent(known.made)) {
          return { made, reply: await this.#compute(key, made, compute) };
        }
        // An error may be about the caller that computes, e.g. its rate limit.
        const reply = await known.reply.catch(() => null);
        if (reply !== null) return { made: known.made, reply };
      }
    } catch (error) {
      const last = changes === 'state' && isDatabaseUnreachable(error) ? this.#entries.get(key) : undefined;
      if (last?.reply === undefined) throw error;
      return { made: last.made, reply: await last.reply };
    }
  }

  #compute(key: string, made: Made, compute: () => Promise<Reply>): Promise<Reply> {
    const last = this.#entries.get(key);
    const entry = { made, reply: compute() };
    this.#entries.set(key, entry, { size: ENTRY_BYTES });
    const isNewest = () => this.#entries.peek(key) === entry;
    entry.reply.then(
      (reply) => isNewest() && this.#entries.set(key, entry, { size: countBytes(reply) }),
      () => isNewest() && (last?.reply === undefined ? this.#entries.delete(key) : this.#entries.set(key, last, { size: ENTRY_BYTES })),
    );
    return entry.reply;
  }

  /** Whether `share` would compute nothing. */
  has(key: string): boolean {
    const entry = this.#entries.peek(key);
    return entry !== undefined && this.#isCurrent(entry.made);
  }

  /** Keeps the answer that is about to be sent for the same request of any anonymous client. @param made of the reply, or when it was begun */
  keep(request: IncomingMessage, response: ServerResponse, content: Buffer, made: Made): void {
    const key = content.length > NEGLIGIBLE_BYTES ? null : toKey(request);
    if (key === null) return;
    const all = Object.entries(response.getHeaders()).filter(([name]) => !PER_REQUEST_HEADERS.has(name));
    const etag = response.getHeader('ETag');
    const sent = {
      headers: flatten(all.filter(([name]) => !BODY_HEADERS.has(name))),
      bodyHeaders: flatten(all.filter(([name]) => BODY_HEADERS.has(name))),
      etag: typeof etag === 'string' ? etag : undefined,
      latin1Body: content.toString('latin1'),
      route: getRoutePath(request),
    };
    this.#entries.set(key, { made, sent }, { size: content.length + ENTRY_BYTES });
  }

  find(key: string): SentAnswer | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#isCurrent(entry.made) ? entry.sent : undefined;
  }

  #isCurrent({ state, atMs }: Made): boolean {
    return state === null ? this.now() - atMs <= MAX_ANSWER_AGE_MS : state === this.#readState();
  }
}

function countBytes(reply: Reply): number {
  return ENTRY_BYTES + ('encoded' in reply ? 2 * reply.encoded.bytes.length : NEGLIGIBLE_BYTES);
}

function flatten(headers: readonly (readonly [string, number | string | string[] | undefined])[]): string[] {
  return headers.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]));
}

/** Headers of one request, not of the answer. */
const PER_REQUEST_HEADERS = new Set(['x-request-id', 'ratelimit', 'ratelimit-policy', 'date', 'connection', 'keep-alive']);
const BODY_HEADERS = new Set(['content-length', 'content-type', 'content-encoding']);
/** Headers that change the answer, or are handled by no answer that is kept. */
const EXCLUDING_HEADERS = ['authorization', 'if-modified-since', 'range', 'expect', ...PAYMENT_HEADERS].map((name) => name.toLowerCase());

/** Null for a request whose answer depends on more than its URL and the negotiated form, or that passes a gate first. */
function toKey({ method, url, headers, socket }: IncomingMessage): string | null {
  if (method !== 'GET' || EXCLUDING_HEADERS.some((name) => headers[name] !== undefined)) return null;
  const connection = getConnection(socket);
  // An untrusted proxy is warned of by the app.
  if (connection?.isProvisional || (connection?.isProxied !== true && headers['x-forwarded-for'] !== undefined)) return null;
  const key = [url, headers.accept ?? '', headers['accept-encoding'] ?? '', headers.origin === undefined ? '' : 'cross-origin'].join('\n');
  return key.length > MAX_KEY_CHARS ? null : key;
}

interface ListenerOptions extends Pick<AppOptions, 'observeRequest' | 'limits' | 'stopping' | 'log'> {
  /** Rate-limit key of the address that a trusted proxy has forwarded. */
  getForwardedAddress(request: IncomingMessage): string;
}

/** Sends kept bytes after the rate limit alone; `app` answers all other requests. */
export function createMemoListener(
  memo: AnswerMemo,
  { limits, stopping, log, observeRequest, getForwardedAddress }: ListenerOptions,
  app: RequestListener,
): RequestListener {
  function getAddress(request: IncomingMessage): string {
    const connection = getConnection(request.socket);
    if (connection?.isProxied === true) return getForwardedAddress(request);
    return connection?.address ?? toAddressKey(request.socket.remoteAddress ?? '') ?? 'unknown';
  }

  return (request, response) => {
    const key = stopping?.aborted ? null : toKey(request);
    const answer = key === null ? undefined : memo.find(key);
    if (answer === undefined) return app(request, response);
    const startedAtMs = memo.now();
    const ip = getAddress(request);
    const send = (decision: RateLimitDecision | null) => {
      const connection = getConnection(request.socket);
      const isAdmitted = decision?.allowed !== false && (connection?.isProxied !== true || connection.tryAdmitProxied(ip, response));
      if (!isAdmitted) return app(request, response);
      const requestId = chooseRequestId(request);
      sendAnswer(request, response, answer, { 'X-Request-Id': requestId, ...(decision && formatRateLimitHeaders([decision])) });
      const ended = { method: 'GET', route: answer.route, status: response.statusCode };
      observeRequest?.({ ...ended, tier: 'public', ms: memo.now() - startedAtMs });
      log.debug({ requestId, ip, ...ended, reused: true }, 'request');
    };
    const decision = limits === undefined ? null : limits.public.takeLeased(ip, MEMOISED_UNITS);
    if (limits === undefined || decision !== null) return send(decision);
    // Without a count the app counts, and answers with the error.
    limits.public.take(ip, MEMOISED_UNITS).then(send, () => app(request, response));
  };
}

/** Writes all headers at once: one by one they would take longer than everything else here. */
function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: SentAnswer, own: Record<string, string>): void {
  const { headers, bodyHeaders, etag, latin1Body } = answer;
  const ifNoneMatch = request.headers['if-none-match'];
  const isUnchanged = ifNoneMatch !== undefined && etag !== undefined && matchesEtag(ifNoneMatch, etag);
  response.writeHead(isUnchanged ? 304 : 200, [...headers, ...Object.entries(own).flat(), ...(isUnchanged ? [] : bodyHeaders)]);
  response.end(isUnchanged ? '' : latin1Body, 'latin1');
}
