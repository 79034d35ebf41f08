import { OracleError } from '../../../platform/errors.ts';
import type { WebhookDoc } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';

/** A webhook as its owner is told of it: nothing of its secret but when that was set. */
export type WebhookView = Omit<WebhookDoc, HiddenField | 'suspendedAt'> & {
  suspendedAt: Date | null;
  /** Until when the secret before signs too; null when it does not. */
  previousSecretUntil: Date | null;
};

/** What nobody is told. */
type HiddenField =
  | 'slot'
  | 'fingerprint'
  | 'sealedSecret'
  | 'wallet'
  | 'previousSecret'
  | 'queuedThrough'
  | 'sender'
  | 'testedAt'
  | 'replays'
  | 'outbox';

/** Part by part: what is added to what is kept is told to nobody by itself. */
export function toWebhookView(doc: WebhookDoc, now: Date): WebhookView {
  const { _id, url, events, horizons, secretSetAt, status, disabledAt, disabledReason, disabledBy, failingSince, createdAt } = doc;
  const previous = doc.previousSecret?.validUntil ?? null;
  return {
    ...{ _id, url, events, horizons, secretSetAt, status, disabledAt, disabledReason, disabledBy, failingSince, createdAt },
    suspendedAt: doc.suspendedAt ?? null,
    previousSecretUntil: previous !== null && previous > now ? previous : null,
  };
}

/** @throws OracleError NOT_FOUND, for somebody else's as for none. */
export async function requireOwnWebhook(store: WebhookStore, wallet: string, id: string): Promise<WebhookDoc> {
  const doc = await store.get(wallet, id);
  if (doc === null) throw webhookNotFound();
  return doc;
}

export function webhookNotFound(): OracleError {
  return new OracleError('NOT_FOUND', 'There is no such webhook of yours', {
    field: 'id',
    suggestedAction: 'GET /api/svc/webhooks lists yours.',
  });
}
