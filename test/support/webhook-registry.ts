import type { Db } from 'mongodb';
import type { Address } from 'viem';
import type { Resolve } from '../../src/platform/outbound/target.ts';
import type { AnyDraft } from '../../src/push/events/event.ts';
import { EventLog } from '../../src/push/events/log.ts';
import { HostGate } from '../../src/push/host-gate.ts';
import { DailyUse } from '../../src/push/webhooks/daily-use.ts';
import { sendPing } from '../../src/push/webhooks/ping.ts';
import { DeliveryQueue } from '../../src/push/webhooks/queue.ts';
import { createWebhookRegistry, type RegistryParts, type WebhookRegistry } from '../../src/push/webhooks/registry.ts';
import { ReplayClaims } from '../../src/push/webhooks/replay-claims.ts';
import { WebhookStore } from '../../src/push/webhooks/store.ts';
import { createSecretBox } from '../../src/secret-box.ts';

export interface TestRegistryOptions {
  now(): Date;
  /** Unset: every name leads to a public address. */
  resolve?: Resolve;
  /** Whether this machine may be called. */
  allowLocal?: boolean;
  /** Other parts than the usual ones. */
  parts?: Partial<RegistryParts>;
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
    hosts: new HostGate({ atOnce: 4, aMinute: 60, ofWallet: { atOnce: 4, aMinute: 60 }, walletAtOnce: 4, now }),
  };
  return createWebhookRegistry({
    ...calling,
    ...{ events: new EventLog(db), queue },
    store: new WebhookStore(db),
    claims: new ReplayClaims(db),
    daily: new DailyUse(db),
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
export function regimeDraft(key: string, at: Date, more: Partial<Pick<AnyDraft, 'wallet' | 'horizonDays'>> = {}): AnyDraft {
  const content = { date: '2026-03-09', from: 'CHOP', to: 'BULL_TREND', at, replayed: false } as const;
  return { type: 'regime.changed', key, at, horizonDays: null, wallet: null, content, ...more };
}
