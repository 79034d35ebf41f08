import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { checkTarget, parseTarget, type TargetRules } from '../../../platform/outbound/target.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import { PUSHED_NAMES, type PushedName } from '../../event-names.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import { openTargetUrl, type StoredTarget, toStoredTarget } from '../formats/chat-target.ts';
import { buildFingerprint, type WebhookDoc } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';
import { requireOwnWebhook } from './webhook-view.ts';

/** Unset fields stay unchanged; the format does. */
export interface WebhookChange {
  url?: string;
  /** Of formats that name a chat beside the URL. */
  chatId?: string;
  events?: readonly PushedName[];
  /** Days; null: all. */
  horizons?: readonly number[] | null;
}

export type WebhookSubscription = StoredTarget & Pick<WebhookDoc, 'events' | 'horizons'>;

/** Normalizes the order, for the fingerprint. */
export function normalizeSubscription({
  events,
  horizons,
  ...target
}: StoredTarget & Required<Pick<WebhookChange, 'events' | 'horizons'>>): WebhookSubscription {
  return {
    ...target,
    events: PUSHED_NAMES.filter((name) => events.includes(name)),
    horizons: horizons === null ? null : [...horizons].sort((a, b) => a - b),
  };
}

export interface ChangeWebhookDeps {
  store: WebhookStore;
  queue: Pick<DeliveryQueue, 'makeDue'>;
  targets: TargetRules;
  box: SecretBox;
  now(): Date;
}

/** Pending messages go to the new URL at once. @throws OracleError NOT_FOUND; INPUT_INVALID naming `url` or `chatId`; RATE_LIMITED; CONFLICT for a duplicate, or an unreadable URL */
export async function changeWebhook(
  { store, queue, targets, box, now }: ChangeWebhookDeps,
  { wallet, id, change }: { wallet: string; id: string; change: WebhookChange },
): Promise<WebhookDoc> {
  // The text is checked for every caller; the host is looked up for the owner only.
  if (change.url !== undefined) parseTarget(change.url, targets.allowLocal);
  await requireOwnWebhook(store, wallet, id);
  // No lookup for an unchanged URL: its host may be down while other fields change.
  const url = change.url === undefined ? undefined : (await checkTarget(change.url, targets, 'accept')).url;
  // After a lost compare-and-set the change is applied on top of the concurrent one.
  for (;;) {
    const before = await requireOwnWebhook(store, wallet, id);
    const { events = before.events, horizons = before.horizons } = change;
    const target = changeTarget(before, { url, chatId: change.chatId }, box);
    const wanted = normalizeSubscription({ ...target, events, horizons });
    const fingerprint = buildFingerprint({ wallet, ...wanted });
    if (fingerprint === before.fingerprint) return before;
    // Failures of the old target do not count for a new one.
    const isSameTarget = wanted.targetKey === before.targetKey;
    const fresh = isSameTarget ? {} : { failingSince: null, urlSetAt: now() };
    const changed = await store.updateSubscription(before, { ...wanted, ...fresh, fingerprint });
    if (changed === null) continue;
    if (!isSameTarget) await queue.makeDue(id, now());
    return changed;
  }
}

function changeTarget(before: WebhookDoc, change: { url: string | undefined; chatId: string | undefined }, box: SecretBox): StoredTarget {
  const { _id, url, sealedUrl, targetKey, chat } = before;
  if (change.url === undefined && change.chatId === undefined) return { url, sealedUrl, targetKey, ...(chat && { chat }) };
  const { format = 'json', chatId = null } = chat ?? {};
  return toStoredTarget(_id, { format, url: change.url ?? openUrl(before, box), chatId: change.chatId ?? chatId }, box);
}

/** The cause is a setting of the operator; the owner can only send the URL again. */
function openUrl(webhook: WebhookDoc, box: SecretBox): string {
  try {
    return openTargetUrl(webhook, box);
  } catch (error) {
    if (!isOracleError(error, 'CONFIG_INVALID')) throw error;
    throw new OracleError('CONFLICT', 'The URL of this webhook cannot be read any more', {
      field: 'url',
      suggestedAction: 'Send the URL with this change.',
      cause: error,
    });
  }
}
