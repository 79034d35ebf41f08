import type { Db } from 'mongodb';
import type { Address } from 'viem';
import { type AnyEventDraft, EventLog } from '../../../src/events/log.ts';
import { DeliveryQueue } from '../../../src/events/webhooks/queue.ts';
import { WebhookRegistry, type WebhookRegistryDeps } from '../../../src/events/webhooks/registry.ts';
import type { ResolveHostname } from '../../../src/platform/outbound/guarded.ts';
import { HostLimiter } from '../../../src/platform/outbound/host-limits.ts';
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
  const share = { maxConcurrent: 4, perMinute: 60 };
  return new WebhookRegistry({
    ...{ db, now, events: new EventLog(db), box: TEST_BOX, targets: { allowLocal, resolve }, publicUrl: 'http://127.0.0.1:3000' },
    queue: new DeliveryQueue(db, now),
    hosts: new HostLimiter({ ...share, perWallet: share, maxConcurrentPerWallet: 4, now }),
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
