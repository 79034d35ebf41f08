import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { vi } from 'vitest';
import type { EventViewOptions } from '../../../src/events/event-view.ts';
import { EVENT_INDEXES, EventLog } from '../../../src/events/log.ts';
import { generateSecret } from '../../../src/events/webhooks/call.ts';
import { toStoredTarget } from '../../../src/events/webhooks/formats.ts';
import {
  DeliveryQueue,
  deliverDue,
  publishWebhookNotices,
  WEBHOOK_INDEXES,
  type WebhookDeliveryDoc,
  type WebhookDoc,
  type WebhookWorkerDeps,
} from '../../../src/events/webhooks/queue.ts';
import { createLog } from '../../../src/platform/log.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { HostLimiter } from '../../../src/platform/outbound/host-limits.ts';
import { createSecretBox } from '../../../src/platform/secrets.ts';
import { testDatabase } from '../database/database.ts';
import { regimeDraft } from './webhook-registry.ts';

const BOX = createSecretBox('m'.repeat(32));
const VIEW: EventViewOptions = {
  saltSecret: 'a master secret of a test',
  policy: 'resolution',
  publicUrl: 'http://127.0.0.1:3000',
  chainId: 31_337,
};

/** What is delivered on a database, with a clock that only the test moves. */
export async function webhookBench() {
  const database = await testDatabase();
  const { db } = database;
  await ensureIndexes(db, [...EVENT_INDEXES, ...WEBHOOK_INDEXES]);
  const webhooks = db.collection<WebhookDoc>('webhooks');
  const deliveries = db.collection<WebhookDeliveryDoc>('webhook_deliveries');
  const clock = { now: new Date('2026-03-10T12:00:00Z') };
  const now = () => clock.now;
  const [events, queue] = [new EventLog(db), new DeliveryQueue(db, now)];
  const lines: string[] = [];

  /** The parts of a worker of its own. */
  function worker(more: Partial<WebhookWorkerDeps> = {}): WebhookWorkerDeps {
    return {
      ...{ db, events, queue, now },
      box: BOX,
      view: VIEW,
      targets: { allowLocal: true, resolve: async () => ['127.0.0.1'] },
      time: { findDisagreement: async () => null },
      hosts: new HostLimiter({
        maxConcurrent: 4,
        perMinute: null,
        perWallet: { maxConcurrent: 4, perMinute: null },
        maxConcurrentPerWallet: 4,
        now,
      }),
      tierOf: async () => 'premium',
      publish: () => publishWebhookNotices({ db, log: events, now }),
      log: createLog({ level: 'warn', secrets: [], write: (line) => void lines.push(line) }),
      random: () => 0.5,
      stopping: new AbortController().signal,
      abortCalls: new AbortController().signal,
      ...more,
    };
  }

  async function addWebhook(url: string, more: Partial<WebhookDoc> = {}): Promise<{ id: string; secret: string; doc: WebhookDoc }> {
    const [id, secret] = [randomUUID(), generateSecret()];
    const doc: WebhookDoc = {
      _id: id,
      wallet: `0x${id.replaceAll('-', '').padStart(40, '0')}`,
      slot: 0,
      fingerprint: id,
      ...toStoredTarget(id, { format: 'json', url, chatId: null }, BOX),
      events: ['regime.changed', 'signal.new', 'webhook.disabled'],
      horizons: null,
      sealedSecret: BOX.seal('webhook-secret', id, secret),
      secretSetAt: clock.now,
      previousSecret: null,
      status: 'active',
      disabledAt: null,
      disabledReason: null,
      disabledBy: null,
      failingSince: null,
      queuedThrough: await events.lastId(),
      createdAt: clock.now,
      ...more,
    };
    await webhooks.insertOne(doc);
    return { id, secret, doc };
  }

  /** The first pending message of a webhook. */
  const head = (webhookId: string) => deliveries.findOne({ webhookId, state: 'PENDING' }, { sort: { position: 1 } });

  return {
    ...{ database, db, webhooks, deliveries, events, queue, clock, lines, worker, addWebhook, head },
    /** Sends what is due; then the head of the webhook. */
    async send(id: string, more: Partial<WebhookWorkerDeps> = {}) {
      await deliverDue(worker(more));
      return head(id);
    },
    drop: () => database.drop(),
    /** Moves the clock on. */
    pass(ms: number) {
      clock.now = new Date(clock.now.getTime() + ms);
    },
    /** Appends so many events, and returns their ids if no other process appends. */
    async happen(count: number): Promise<number[]> {
      const first = (await events.lastId()) + 1;
      const drafts = Array.from({ length: count }, () => regimeDraft(randomUUID(), clock.now));
      await events.append(drafts, clock.now);
      return drafts.map((_, index) => first + index);
    },
    webhook: async (id: string) => (await webhooks.findOne({ _id: id }))!,
    /** The rows of a webhook, in order. */
    async rows(id: string) {
      return (await queue.list(id, { limit: 10_000 })).reverse();
    },
    /** A secret as the database keeps it. */
    seal: (id: string, secret: string) => BOX.seal('webhook-secret', id, secret),
  };
}

export type WebhookBench = Awaited<ReturnType<typeof webhookBench>>;

interface Came {
  headers: IncomingHttpHeaders;
  body: string;
}

/** The message of a call that verifies under the standard at a time. @throws when it does not */
export function verified({ headers, body }: Came, secret: string, at: Date): { id: number; type: string } {
  vi.useFakeTimers({ toFake: ['Date'], now: at });
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>) as { id: number; type: string };
  } finally {
    vi.useRealTimers();
  }
}
