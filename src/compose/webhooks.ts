import type { Db } from 'mongodb';
import type { EventLog } from '../push/events/log.ts';
import { systemResolve } from '../push/resolve.ts';
import { createWebhookRegistry, type WebhookRegistry } from '../push/webhooks/registry.ts';
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

/** The callers' callbacks: their registration. */
export function composeWebhooks({ db, events, encryptionSecret, allowLocal, now }: WebhookComposition): WebhookRegistry {
  return createWebhookRegistry({
    store: new WebhookStore(db),
    events,
    box: createSecretBox(encryptionSecret),
    targets: { allowLocal, resolve: systemResolve },
    now,
  });
}
