import { timingSafeEqual } from 'node:crypto';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import type { WebhookStore } from '../registry/webhook-store.ts';
import { requireOwnWebhook } from '../registry/webhook-view.ts';
import { generateSecret, toSigningKey } from './secret.ts';

/** Deliveries are also signed with the previous secret this long, so that receivers can switch. */
export const PREVIOUS_SECRET_HOURS = 24;

const HOUR_MS = 3_600_000;

/** Retries are safe: the current secret set again changes nothing. @throws OracleError NOT_FOUND, INPUT_INVALID naming `secret`, CONFLICT */
export async function rotateSecret(
  { store, box, now }: { store: WebhookStore; box: SecretBox; now(): Date },
  { wallet, id, secret = generateSecret() }: { wallet: string; id: string; secret?: string },
): Promise<{ doc: WebhookDoc; secret: string }> {
  const key = toSigningKey(secret);
  const doc = await requireOwnWebhook(store, wallet, id);
  const before = openSecretOrNull(box, doc);
  if (before !== null && isSameKey(key, toSigningKey(before))) return { doc, secret };
  const at = now();
  const validUntil = new Date(at.getTime() + PREVIOUS_SECRET_HOURS * HOUR_MS);
  const rotated = await store.replaceSecret(doc, {
    sealedSecret: box.seal('webhook-secret', id, secret),
    secretSetAt: at,
    previousSecret: before === null ? null : { sealed: doc.sealedSecret, validUntil },
  });
  if (rotated === null) throw concurrentChange();
  return { doc: rotated, secret };
}

function openSecretOrNull(box: SecretBox, { _id, sealedSecret }: WebhookDoc): string | null {
  try {
    return box.open('webhook-secret', _id, sealedSecret);
  } catch (error) {
    if (isOracleError(error, 'CONFIG_INVALID')) return null;
    throw error;
  }
}

function isSameKey(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function concurrentChange(): OracleError {
  return new OracleError('CONFLICT', 'Another request changed or deleted the webhook at the same time', {
    suggestedAction: 'The response of that request has the current secret; repeat the request to set another one.',
  });
}
