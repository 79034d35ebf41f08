import type { Db } from 'mongodb';
import { createResolve } from '../platform/outbound/resolve.ts';
import type { EventLog } from '../push/events/log.ts';
import { HostGate } from '../push/host-gate.ts';
import { DailyUse } from '../push/webhooks/daily-use.ts';
import { sendPing } from '../push/webhooks/ping.ts';
import { DeliveryQueue } from '../push/webhooks/queue.ts';
import { createWebhookRegistry, type WebhookRegistry } from '../push/webhooks/registry.ts';
import { ReplayClaims } from '../push/webhooks/replay-claims.ts';
import { WebhookStore } from '../push/webhooks/store.ts';
import { createSecretBox } from '../secret-box.ts';

export interface WebhookComposition {
  db: Db;
  events: EventLog;
  encryptionSecret: string;
  /** Whether hosts of this machine may be called. */
  allowLocal: boolean;
  now(): Date;
}

/** Tests that a host gets from a process: whoever asks for them need not be its owner. */
const TESTS = { atOnce: 4, aMinute: 60, ofWallet: { atOnce: 2, aMinute: 30 }, walletAtOnce: 4 } as const;

/** The callers' callbacks: their registration. */
export function composeWebhooks({ db, events, encryptionSecret, allowLocal, now }: WebhookComposition): WebhookRegistry {
  const queue = new DeliveryQueue(db);
  const common = { box: createSecretBox(encryptionSecret), queue, now };
  const testing = { ...common, targets: { allowLocal, resolve: createResolve() }, hosts: new HostGate({ ...TESTS, now }) };
  return createWebhookRegistry({
    ...{ ...common, events },
    targets: { allowLocal, resolve: createResolve() },
    daily: new DailyUse(db),
    store: new WebhookStore(db),
    claims: new ReplayClaims(db),
    ping: (webhook) => sendPing(testing, webhook),
  });
}
