import { checkTarget, parseTarget, type TargetRules } from '../../../platform/outbound/target.ts';
import { PUSHED_NAMES, type PushedName } from '../../event-names.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import { buildFingerprint, type WebhookDoc } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';
import { requireOwnWebhook } from './webhook-view.ts';

/** What is to be otherwise; what is unset stays. */
export interface WebhookChange {
  url?: string;
  /** At least one. */
  events?: readonly PushedName[];
  /** Days; null: all. */
  horizons?: readonly number[] | null;
}

export interface ChangeWebhookDeps {
  store: WebhookStore;
  queue: Pick<DeliveryQueue, 'makeDue'>;
  targets: TargetRules;
  now(): Date;
}

/** What a webhook is called for and where, in one spelling and order. */
export type WebhookSubscription = Pick<WebhookDoc, 'url' | 'events' | 'horizons'>;

/** In the order that is kept. */
export function normalizeSubscription({ url, events, horizons }: Required<WebhookChange>): WebhookSubscription {
  return {
    url,
    events: PUSHED_NAMES.filter((name) => events.includes(name)),
    horizons: horizons === null ? null : [...horizons].sort((a, b) => a - b),
  };
}

/**
 * Changes what a webhook is called for, or where. What waits in its queue stays there, and goes to the new URL, now.
 * @throws OracleError NOT_FOUND; INPUT_INVALID naming `url`; RATE_LIMITED when its host cannot be looked up now; CONFLICT when another one of the wallet is just that.
 */
export async function changeWebhook(
  { store, queue, targets, now }: ChangeWebhookDeps,
  { wallet, id, change }: { wallet: string; id: string; change: WebhookChange },
): Promise<WebhookDoc> {
  // What its text tells is wrong for whomever; the host is looked up for his own webhook only.
  if (change.url !== undefined) parseTarget(change.url, targets.allowLocal);
  await requireOwnWebhook(store, wallet, id);
  // Not asked for where it stays: its host may be down while its owner changes the rest.
  const url = change.url === undefined ? undefined : (await checkTarget(change.url, targets, 'accept')).url;
  // A round that is lost was won by another change, which this one is made on top of.
  for (;;) {
    const before = await requireOwnWebhook(store, wallet, id);
    const { events = before.events, horizons = before.horizons } = change;
    const wanted = normalizeSubscription({ url: url ?? before.url, events, horizons });
    const fingerprint = buildFingerprint({ wallet, ...wanted });
    if (fingerprint === before.fingerprint) return before;
    // How the old URL did says nothing of a new one.
    const fresh = wanted.url === before.url ? {} : { failingSince: null, urlSetAt: now() };
    const changed = await store.updateSubscription(before, { ...wanted, ...fresh, fingerprint });
    if (changed === null) continue;
    if (wanted.url !== before.url) await queue.makeDue(id, now());
    return changed;
  }
}
