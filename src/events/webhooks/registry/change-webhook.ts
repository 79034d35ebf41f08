import { checkTarget, parseTarget, type TargetRules } from '../../../platform/outbound/target.ts';
import { PUSHED_NAMES, type PushedName } from '../../event-names.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import { buildFingerprint, type WebhookDoc } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';
import { requireOwnWebhook } from './webhook-view.ts';

/** Unset fields stay unchanged. */
export interface WebhookChange {
  url?: string;
  events?: readonly PushedName[];
  /** Days; null: all. */
  horizons?: readonly number[] | null;
}

export type WebhookSubscription = Pick<WebhookDoc, 'url' | 'events' | 'horizons'>;

/** Normalizes the order, for the fingerprint. */
export function normalizeSubscription({ url, events, horizons }: Required<WebhookChange>): WebhookSubscription {
  return {
    url,
    events: PUSHED_NAMES.filter((name) => events.includes(name)),
    horizons: horizons === null ? null : [...horizons].sort((a, b) => a - b),
  };
}

/** Pending messages go to the new URL at once. @throws OracleError NOT_FOUND; INPUT_INVALID naming `url`; RATE_LIMITED; CONFLICT for a duplicate */
export async function changeWebhook(
  { store, queue, targets, now }: { store: WebhookStore; queue: Pick<DeliveryQueue, 'makeDue'>; targets: TargetRules; now(): Date },
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
    const wanted = normalizeSubscription({ url: url ?? before.url, events, horizons });
    const fingerprint = buildFingerprint({ wallet, ...wanted });
    if (fingerprint === before.fingerprint) return before;
    // Failures of the old URL do not count for a new one.
    const fresh = wanted.url === before.url ? {} : { failingSince: null, urlSetAt: now() };
    const changed = await store.updateSubscription(before, { ...wanted, ...fresh, fingerprint });
    if (changed === null) continue;
    if (wanted.url !== before.url) await queue.makeDue(id, now());
    return changed;
  }
}
