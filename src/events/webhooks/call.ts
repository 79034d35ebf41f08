import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Webhook } from 'standardwebhooks';
import { isOracleError, OracleError } from '../../errors.ts';
import { MINUTE_MS } from '../../forecast/day.ts';
import { getHostname, postGuarded, type TargetRules } from '../../platform/outbound/guarded.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import { getTraceHeaders } from '../../platform/tracing.ts';
import { judgeAnswer, openTargetUrl, type StoredTarget } from './formats.ts';

/** What a call needs of a webhook. */
export interface WebhookTarget extends StoredTarget {
  _id: string;
  /** In lower case. */
  wallet: string;
  /** Encrypted, bound to this webhook's id. */
  sealedSecret: string;
  /** Signs too until `validUntil`, after a rotation. */
  previousSecret: { sealed: string; validUntil: Date } | null;
}

export interface DeliveryAttempt {
  at: Date;
  /** HTTP status; null without a response. */
  status: number | null;
  ms: number;
  /** Reason of the failure; null for a delivery. */
  reason: string | null;
}

export interface CallWebhookDeps {
  box: SecretBox;
  targets: TargetRules;
  hosts: HostLimiter;
  now(): Date;
  timeoutMs?: number;
}

interface WebhookRequest {
  messageId: string;
  body: string;
  signal?: AbortSignal;
}

interface WebhookCallResult {
  attempt: DeliveryAttempt;
  retryAfterSeconds: number | null;
  /** Why the receiver wants no more calls; null otherwise. */
  ended: string | null;
}

/** Covers name lookup, connection and response. */
export const WEBHOOK_CALL_TIMEOUT_MS = 15_000;

/** Any behaviour of the receiver is an attempt. @throws OracleError CONFIG_INVALID for the secret or the URL; RATE_LIMITED by name lookups, with nothing sent */
export function callWebhook(
  { box, targets, hosts, now, timeoutMs = WEBHOOK_CALL_TIMEOUT_MS }: CallWebhookDeps,
  webhook: WebhookTarget,
  { messageId, body, signal }: WebhookRequest,
): Promise<WebhookCallResult | HostLimit> {
  return hosts.run(webhook, async () => {
    const at = now();
    const url = openTargetUrl(webhook, box);
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'bitcoin-signal-oracle',
      ...getTraceHeaders(),
      ...buildSignatureHeaders({ messageId, at, body }, openSigningSecrets(webhook, box, at)),
    };
    const options = { ...(signal && { signal }), ...(webhook.chat && { keepsAnswer: true as const }) };
    const started = performance.now();
    try {
      const result = await postGuarded({ url, headers, body, timeoutMs, rules: targets, ...options });
      const { status, durationMs: ms, retryAfterSeconds, answer: text = '' } = result;
      const { reason, ended } = judgeAnswer(webhook.chat?.format ?? 'json', { status, text });
      return { attempt: { at, status, ms, reason }, retryAfterSeconds, ended };
    } catch (error) {
      if (!isOracleError(error) || error.code === 'RATE_LIMITED') throw error;
      const ms = Math.round(performance.now() - started);
      // Contains nothing that the receiver sent.
      const reason = error.code === 'TARGET_UNREACHABLE' ? `No answer (${error.details?.reason})` : error.message;
      return { attempt: { at, status: null, ms, reason }, retryAfterSeconds: null, ended: null };
    }
  });
}

/** Headers of Standard Webhooks, with one signature per secret: during a rotation a receiver may know either secret. */
export function buildSignatureHeaders(
  { messageId, at, body }: { messageId: string; at: Date; body: string },
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(toSigningKey(secret), { format: 'raw' }).sign(messageId, at, body));
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** The current signing secrets, newest first. @throws OracleError CONFIG_INVALID if they are encrypted under another master secret */
export function openSigningSecrets(
  { _id, sealedSecret, previousSecret }: Pick<WebhookTarget, '_id' | 'sealedSecret' | 'previousSecret'>,
  box: SecretBox,
  now: Date,
): string[] {
  const previous = previousSecret !== null && previousSecret.validUntil > now ? [previousSecret.sealed] : [];
  return [sealedSecret, ...previous].map((sealed) => box.open('webhook-secret', _id, sealed));
}

/** Shorter keys could be found by brute force from a signature. */
export const MIN_SECRET_BYTES = 16;
export const MAX_SECRET_LENGTH = 256;
const SECRET_PREFIX = 'whsec_';

export const SECRET_RULE = `${SECRET_PREFIX} and base64 of at least ${MIN_SECRET_BYTES} bytes, or any other text of at least ${MIN_SECRET_BYTES} bytes without control characters; at most ${MAX_SECRET_LENGTH} characters`;

/** Of 32 bytes; Standard Webhooks recommends 24 to 64. */
export function generateSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64');
}

/** @throws OracleError INPUT_INVALID for a short, long or malformed secret; suggests a generated one and does not contain the secret */
export function toSigningKey(secret: string): Buffer {
  const isBase64 = secret.startsWith(SECRET_PREFIX);
  const text = isBase64 ? secret.slice(SECRET_PREFIX.length) : secret;
  const key = Buffer.from(text, isBase64 ? 'base64' : 'utf8');
  const isReadable = isBase64 ? key.toString('base64').replace(/=+$/, '') === text.replace(/={1,2}$/, '') : !/\p{Cc}|\p{Cs}/u.test(text);
  if (isReadable && key.length >= MIN_SECRET_BYTES && secret.length <= MAX_SECRET_LENGTH) return key;
  const suggestion = generateSecret();
  throw new OracleError('INPUT_INVALID', `The secret must be ${SECRET_RULE}`, {
    field: 'secret',
    suggestedAction: `Send ${suggestion}, which was generated for this answer and is stored nowhere, or leave "secret" out.`,
    details: { suggestion },
  });
}

/** The key of any secret in the form that every Standard Webhooks library takes: libraries read other texts as base64, or not at all. */
export function toVerificationKey(secret: string): string {
  return SECRET_PREFIX + toSigningKey(secret).toString('base64');
}

interface PostLimits {
  maxConcurrent: number;
  /** Null: unlimited. */
  perMinute: number | null;
}

export interface HostLimiterOptions extends PostLimits {
  perWallet: PostLimits;
  maxConcurrentPerWallet: number;
  now(): Date;
}

/** `busy` ends with the posts in flight, `spent` with the minute. */
type HostLimit = 'busy' | 'spent';

/** A rejected post keeps its place in the queue for so long, more than a worker takes to retry. */
const PLACE_RETENTION_MS = 3_000;

/** No dead host and no wallet exhausts the share of others. A post rejected because its host was busy goes before later ones. */
export class HostLimiter {
  readonly #inFlight = new Map<string, number>();
  /** By share (wallet and host), in order of arrival. */
  readonly #waiting = new Map<string, { host: string; lastTriedMs: number }>();
  readonly #options: HostLimiterOptions;
  readonly #rates: HostRateLimit[];

  constructor(options: HostLimiterOptions) {
    const { perMinute, perWallet, now } = options;
    this.#options = options;
    // The share first: its rejection takes no token of the host.
    this.#rates = [perWallet.perMinute, perMinute].map((limit) => new HostRateLimit(now, limit ?? Number.MAX_SAFE_INTEGER));
  }

  async run<T>({ url, wallet }: Pick<WebhookTarget, 'url' | 'wallet'>, work: () => Promise<T>): Promise<T | HostLimit> {
    const host = getHostname(url);
    const share = `${wallet} ${host}`;
    if (!this.#hasRoom(host, wallet, share)) return 'busy';
    if (![share, host].every((key, index) => this.#rates[index]!.take(key) === 'post')) return 'spent';
    const keys = [host, wallet, share];
    for (const key of keys) this.#inFlight.set(key, this.#count(key) + 1);
    try {
      return await work();
    } finally {
      for (const key of keys) {
        const left = this.#count(key) - 1;
        if (left === 0) this.#inFlight.delete(key);
        else this.#inFlight.set(key, left);
      }
    }
  }

  #hasRoom(host: string, wallet: string, share: string): boolean {
    const { maxConcurrent, perWallet, maxConcurrentPerWallet, now } = this.#options;
    const nowMs = now().getTime();
    for (const [key, { lastTriedMs }] of this.#waiting) if (lastTriedMs < nowMs - PLACE_RETENTION_MS) this.#waiting.delete(key);
    // A wallet at its own limit takes no place in the queue of the host.
    const isFull = this.#count(share) >= perWallet.maxConcurrent || this.#count(wallet) >= maxConcurrentPerWallet;
    const shares = [...this.#waiting.keys()];
    const ahead = this.#waiting.has(share) ? shares.slice(0, shares.indexOf(share)) : shares;
    const isHostBusy = this.#count(host) + ahead.filter((key) => this.#waiting.get(key)!.host === host).length >= maxConcurrent;
    if (!isFull && isHostBusy) this.#waiting.set(share, { host, lastTriedMs: nowMs });
    else this.#waiting.delete(share);
    return !isFull && !isHostBusy;
  }

  #count(key: string): number {
    return this.#inFlight.get(key) ?? 0;
  }
}

/** Default burst and rate per host, over all who registered it. */
export const POSTS_PER_MINUTE = 60;

/** The least recently used host is evicted; after a minute without posts its bucket would be full anyway. */
const MAX_HOSTS = 10_000;

/** A token bucket per host: callbacks must not be usable to flood a third party. */
export class HostRateLimit {
  readonly #hosts = new LRUCache<string, { left: number; at: number; loggedAt: number | null }>({
    maxSize: MAX_HOSTS,
    sizeCalculation: () => 1,
  });
  readonly #now: () => Date;
  readonly #perMinute: number;

  constructor(now: () => Date, perMinute = POSTS_PER_MINUTE) {
    this.#now = now;
    this.#perMinute = perMinute;
  }

  /** Takes a token if there is one. `dropped` is to be logged; `dropped silently` follows within a minute of it. @param host without port */
  take(host: string): 'post' | 'dropped' | 'dropped silently' {
    const at = this.#now().getTime();
    const before = this.#hosts.get(host) ?? { left: this.#perMinute, at, loggedAt: null };
    const left = Math.min(this.#perMinute, before.left + (Math.max(0, at - before.at) * this.#perMinute) / MINUTE_MS);
    if (left >= 1) {
      this.#hosts.set(host, { ...before, left: left - 1, at });
      return 'post';
    }
    const wasLogged = before.loggedAt !== null && at - before.loggedAt < MINUTE_MS;
    this.#hosts.set(host, { left, at, loggedAt: wasLogged ? before.loggedAt : at });
    return wasLogged ? 'dropped silently' : 'dropped';
  }
}
