import { createHmac } from 'node:crypto';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import { toSigningKey } from './secret.ts';

export interface SignedDelivery {
  /** `webhook-id`. */
  messageId: string;
  /** When it is sent: receivers refuse what is older than some minutes. */
  at: Date;
  /** As it is sent, byte for byte. */
  body: string;
}

/**
 * The headers by which a receiver knows that a message is from us, as Standard Webhooks defines them: one signature for each secret,
 * so that a receiver may know either of them while they change.
 */
export function buildSignatureHeaders({ messageId, at, body }: SignedDelivery, secrets: readonly string[]): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1_000);
  const sign = (secret: string) => createHmac('sha256', toSigningKey(secret)).update(`${messageId}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret)}`).join(' '),
  };
}

/** The secrets that sign now, the newest first. @throws OracleError CONFIG_INVALID when they were sealed under another master secret. */
export function openSigningSecrets(
  { _id, sealedSecret, previousSecret }: Pick<WebhookDoc, '_id' | 'sealedSecret' | 'previousSecret'>,
  box: SecretBox,
  now: Date,
): string[] {
  const previous = previousSecret !== null && previousSecret.validUntil > now ? [previousSecret.sealed] : [];
  return [sealedSecret, ...previous].map((sealed) => box.open('webhook-secret', _id, sealed));
}
