import { OracleError, WebhookRejected } from './errors.ts';
import type { OracleEvent } from './events.ts';

/** Sent by the service on request; it is no event. */
export interface WebhookPing {
  id: null;
  type: 'ping';
  timestamp: string;
  data: Record<string, unknown>;
}

export interface WebhookOptions {
  /** Largest accepted difference between the time of the delivery and ours; default 300. */
  toleranceSeconds?: number;
  now?: Date;
}

type HeaderValues = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const PREFIX = 'whsec_';
const TOLERANCE_SECONDS = 300;

/**
 * The event of a delivery (Standard Webhooks). `body` is the raw body: JSON that was parsed and written again has other bytes. `secret` is that
 * of the registration, several while one is being rotated. A delivery may come again with the same `webhook-id`: act once for each.
 * @throws WebhookRejected; OracleError CONFIG_INVALID for a malformed secret
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeaderValues,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() }: WebhookOptions = {},
): Promise<OracleEvent | WebhookPing> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => readHeader(headers, `webhook-${name}`));
  requireRecent(timestamp, toleranceSeconds, now);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const keys = await Promise.all((typeof secret === 'string' ? [secret] : secret).map(importKey));
  const given = signatures.split(' ').flatMap(decodeSignature);
  // All pairs, without a short circuit: the time does not depend on which of them matches.
  const matches = await Promise.all(keys.flatMap((key) => given.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed))));
  if (!matches.includes(true)) throw new WebhookRejected('No signature of the delivery is of this secret');
  return parseEvent(bytes);
}

function readHeader(headers: HeaderValues, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookRejected(`The header ${name} is missing`);
}

function requireRecent(timestamp: string, toleranceSeconds: number, now: Date): void {
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookRejected('The header webhook-timestamp is not a Unix time in seconds');
  if (Math.abs(now.getTime() / 1_000 - Number(timestamp)) <= toleranceSeconds) return;
  throw new WebhookRejected(`The delivery is more than ${toleranceSeconds} seconds off: a replay, or a wrong clock`);
}

type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

async function importKey(secret: string): Promise<HmacKey> {
  const bytes = secret.startsWith(PREFIX) ? decodeBase64(secret.slice(PREFIX.length)) : new TextEncoder().encode(secret);
  if (bytes !== null && bytes.length > 0)
    return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  throw new OracleError('CONFIG_INVALID', bytes === null ? 'The secret after whsec_ is not base64' : 'The secret is empty', {
    field: 'secret',
  });
}

function decodeSignature(signature: string): Uint8Array<ArrayBuffer>[] {
  const bytes = signature.startsWith('v1,') ? decodeBase64(signature.slice(3)) : null;
  return bytes === null ? [] : [bytes];
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function parseEvent(bytes: Uint8Array): OracleEvent | WebhookPing {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof event === 'object' && event !== null && 'type' in event) return event as OracleEvent | WebhookPing;
  } catch {
    // The same error as for other JSON.
  }
  throw new WebhookRejected('The signed body is not an event');
}
