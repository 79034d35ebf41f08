import { Webhook } from 'standardwebhooks';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import { toSigningKey } from './secret.ts';

export interface SignedDelivery {
  /** `webhook-id`. */
  messageId: string;
  /** `webhook-timestamp`: receivers reject old messages. */
  at: Date;
  body: string;
}

/** Headers of Standard Webhooks, with one signature per secret: during a rotation a receiver may know either secret. */
export function buildSignatureHeaders({ messageId, at, body }: SignedDelivery, secrets: readonly string[]): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(toSigningKey(secret), { format: 'raw' }).sign(messageId, at, body));
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** The current signing secrets, newest first. @throws OracleError CONFIG_INVALID if they are encrypted under another master secret */
export function openSigningSecrets(doc: Pick<WebhookDoc, '_id' | 'sealedSecret' | 'previousSecret'>, box: SecretBox, now: Date): string[] {
  const { _id, sealedSecret, previousSecret } = doc;
  const previous = previousSecret !== null && previousSecret.validUntil > now ? [previousSecret.sealed] : [];
  return [sealedSecret, ...previous].map((sealed) => box.open('webhook-secret', _id, sealed));
}
