import type { EventLog } from '../../events/log/event-log.ts';
import { DeliveryQueue } from '../../events/webhooks/delivery/delivery-queue.ts';
import { ChatPaceStore } from '../../events/webhooks/limits/chat-pace-store.ts';
import { DailyQuotaStore } from '../../events/webhooks/limits/daily-quota-store.ts';
import { HostLimiter } from '../../events/webhooks/limits/host-limiter.ts';
import { ReplayClaimStore } from '../../events/webhooks/on-demand/replay-claim-store.ts';
import { sendPing } from '../../events/webhooks/on-demand/send-ping.ts';
import { createWebhookRegistry, type WebhookRegistry } from '../../events/webhooks/registry/webhook-registry.ts';
import { WebhookStore } from '../../events/webhooks/registry/webhook-store.ts';
import { createResolver } from '../../platform/outbound/resolve.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import type { ServiceCore } from '../core.ts';

export interface ComposeWebhooksDeps extends Pick<ServiceCore, 'db' | 'encryptionSecret' | 'now'> {
  events: EventLog;
  allowLocal: boolean;
  publicUrl: string;
}

/** Test calls per host: the caller may not be the owner of the host. */
const TEST_SHARES = { maxConcurrent: 4, perMinute: 60, perWallet: { maxConcurrent: 2, perMinute: 30 }, maxConcurrentPerWallet: 4 } as const;

export function composeWebhooks({ db, events, encryptionSecret, allowLocal, publicUrl, now }: ComposeWebhooksDeps): WebhookRegistry {
  const queue = new DeliveryQueue(db);
  const common = { box: createSecretBox(encryptionSecret), queue, now };
  const limits = { hosts: new HostLimiter({ ...TEST_SHARES, now }), pace: new ChatPaceStore(db) };
  const testing = { ...common, ...limits, publicUrl, targets: { allowLocal, resolve: createResolver() } };
  return createWebhookRegistry({
    ...common,
    events,
    targets: { allowLocal, resolve: createResolver() },
    quotas: new DailyQuotaStore(db),
    store: new WebhookStore(db),
    claims: new ReplayClaimStore(db),
    ping: (webhook) => sendPing(testing, webhook),
  });
}
