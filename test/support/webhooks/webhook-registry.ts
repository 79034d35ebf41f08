import type { Db } from 'mongodb';
import type { Address } from 'viem';
import { type AnyEventDraft, EventLog } from '../../../src/events/log.ts';
import { DeliveryQueue } from '../../../src/events/webhooks/delivery-queue.ts';
import { DailyQuotaStore, HostLimiter } from '../../../src/events/webhooks/limits.ts';
import { createWebhookRegistry, sendPing, type WebhookRegistry, type WebhookRegistryDeps } from '../../../src/events/webhooks/registry.ts';
import { WebhookStore } from '../../../src/events/webhooks/webhook-store.ts';
import type { ResolveHostname } from '../../../src/platform/outbound/guarded.ts';
import { createSecretBox } from '../../../src/platform/secrets.ts';

export interface TestRegistryOptions {
  now(): Date;
  /** Unset: every name leads to a public address. */
  resolve?: ResolveHostname;
  /** Whether this machine may be called. */
  allowLocal?: boolean;
  /** Other parts than the usual ones. */
  parts?: Partial<WebhookRegistryDeps>;
}

/** What the secrets of test registries are sealed in. */
export const TEST_BOX = createSecretBox('m'.repeat(32));

/** The registry of webhooks on a database, as in a process of its own. */
export function testRegistry(
  db: Db,
  { now, resolve = async () => ['93.184.215.14'], allowLocal = false, parts = {} }: TestRegistryOptions,
): WebhookRegistry {
  const queue = new DeliveryQueue(db);
  const calling = { box: TEST_BOX, targets: { allowLocal, resolve }, now };
  const testing = {
    ...calling,
    queue,
    publicUrl: 'http://127.0.0.1:3000',
    hosts: new HostLimiter({
      maxConcurrent: 4,
      perMinute: 60,
      perWallet: { maxConcurrent: 4, perMinute: 60 },
      maxConcurrentPerWallet: 4,
      now,
    }),
  };
  return createWebhookRegistry({
    ...calling,
    ...{ events: new EventLog(db), queue },
    store: new WebhookStore(db),
    quotas: new DailyQuotaStore(db),
    ping: (webhook) => sendPing(testing, webhook),
    ...parts,
  });
}

let wallets = 0;

/** A wallet that has no webhooks yet. */
export function newWallet(): Address {
  wallets += 1;
  return `0x${wallets.toString(16).padStart(40, 'A')}`;
}

/** A change of the regime, of a day, as it comes into the log. */
export function regimeDraft(key: string, at: Date, more: Partial<Pick<AnyEventDraft, 'wallet' | 'horizonDays'>> = {}): AnyEventDraft {
  const content = { date: '2026-03-09', from: 'CHOP', to: 'BULL_TREND', at, replayed: false } as const;
  return { type: 'regime.changed', key, at, horizonDays: null, wallet: null, content, ...more };
}
