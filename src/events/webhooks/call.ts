import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { isOracleError, OracleError } from '../../errors.ts';
import { postGuarded, type TargetRules } from '../../platform/outbound/guarded.ts';
import type { HostLimit, HostLimiter } from '../../platform/outbound/host-limits.ts';
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
