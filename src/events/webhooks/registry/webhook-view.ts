import { isOracleError, OracleError } from '../../../platform/errors.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import { openTargetUrl } from '../formats/chat-target.ts';
import type { WebhookFormat } from '../formats/webhook-formats.ts';
import type { WebhookDoc } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';

/** A webhook as its owner sees it: of the secret only the time it was set, of the URL of a chat its host and last characters, as operators see any URL. */
export type WebhookView = Omit<WebhookDoc, HiddenField | 'suspendedAt'> & {
  suspendedAt: Date | null;
  format: WebhookFormat;
  chatId: string | null;
  /** End of the previous secret's validity; null if it is not valid. */
  previousSecretUntil: Date | null;
};

type HiddenField =
  | 'slot'
  | 'chat'
  | 'sealedUrl'
  | 'targetKey'
  | 'urlSetAt'
  | 'fingerprint'
  | 'sealedSecret'
  | 'wallet'
  | 'previousSecret'
  | 'queuedThrough'
  | 'sender'
  | 'testedAt'
  | 'replays'
  | 'outbox';

/** Lists the fields explicitly, so that a new stored field stays private. @param box for the owner, who gave the URL */
export function toWebhookView(doc: WebhookDoc, now: Date, box?: SecretBox): WebhookView {
  const { _id, events, horizons, secretSetAt, status, disabledAt, disabledReason, disabledBy, failingSince, createdAt } = doc;
  const previous = doc.previousSecret?.validUntil ?? null;
  return {
    _id,
    url: box === undefined || doc.chat !== undefined ? doc.url : showUrl(doc, box),
    format: doc.chat?.format ?? 'json',
    chatId: doc.chat?.chatId ?? null,
    events,
    horizons,
    secretSetAt,
    status,
    disabledAt,
    disabledReason,
    disabledBy,
    failingSince,
    createdAt,
    suspendedAt: doc.suspendedAt ?? null,
    previousSecretUntil: previous !== null && previous > now ? previous : null,
  };
}

/** Masked where it is encrypted under another master secret. */
function showUrl(doc: WebhookDoc, box: SecretBox): string {
  try {
    return openTargetUrl(doc, box);
  } catch (error) {
    if (isOracleError(error, 'CONFIG_INVALID')) return doc.url;
    throw error;
  }
}

/** @throws OracleError NOT_FOUND, also for a webhook of another wallet */
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
