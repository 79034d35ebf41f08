import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EventLog } from '../../../src/events/log.ts';
import {
  DeliveryQueue,
  deliverDue,
  fanOutEvents,
  publishWebhookNotices,
  type WebhookWorkerDeps,
} from '../../../src/events/webhooks/queue.ts';
import { connectMongo, type Database } from '../../../src/platform/mongo.ts';
import { sweepWrites } from '../../support/faults/fault-sweep.ts';
import { type MongoFaultProxy, mongoFaultProxy, WRITE_FAULTS } from '../../support/faults/mongo-fault-proxy.ts';
import { repeatWhileRetryable } from '../../support/faults/repeat.ts';
import { startReceiver } from '../../support/webhooks/receiver.ts';
import { type WebhookBench, webhookBench } from '../../support/webhooks/webhook-bench.ts';
import { regimeDraft } from '../../support/webhooks/webhook-registry.ts';

/** Shorter than the lease of a sender. */
const MAX_MS = 8_000;

let bench: WebhookBench;
let proxy: MongoFaultProxy;
let database: Database;
let events: EventLog;
let worker: WebhookWorkerDeps;

beforeAll(async () => {
  bench = await webhookBench();
  proxy = await mongoFaultProxy(bench.database.uri);
  database = await connectMongo(proxy.uri);
  const { db } = database;
  events = new EventLog(db);
  worker = bench.worker({
    ...{ db, events, queue: new DeliveryQueue(db, () => bench.clock.now) },
    publish: () => publishWebhookNotices({ db, log: events, now: () => bench.clock.now }),
  });
});
afterAll(async () => {
  await database.close();
  await proxy.close();
  await bench.drop();
});

/** Two events to one webhook, until its queue is empty or waits for a later time. */
async function deliverTwo(url: string) {
  const { id } = await bench.addWebhook(url);
  const drafts = [regimeDraft(randomUUID(), bench.clock.now), regimeDraft(randomUUID(), bench.clock.now)];
  const began = performance.now();
  await repeatWhileRetryable(() => events.append(drafts, bench.clock.now));
  await repeatWhileRetryable(() => fanOutEvents(worker));
  for (let head = true; head; ) {
    await repeatWhileRetryable(() => deliverDue(worker));
    head = (await bench.head(id)) !== null && (await bench.webhook(id)).status === 'active';
    bench.pass(30_000);
  }
  expect(performance.now() - began).toBeLessThan(MAX_MS);
  return id;
}

it('delivers each event once and in order, with one record each', async () => {
  const points = await sweepWrites({
    name: 'webhook deliveries',
    proxy,
    faults: WRITE_FAULTS,
    async scenario() {
      const receiver = await startReceiver(200);
      const id = await deliverTwo(receiver.url);
      await receiver.close();
      return { id, ids: receiver.received.map(({ body }) => (JSON.parse(body) as { id: number }).id) };
    },
    async check({ id, ids }) {
      const last = await bench.events.lastId();
      expect(ids).toEqual([last - 1, last]);
      expect((await bench.rows(id)).map(({ state, attempts, eventId }) => [state, attempts.length, eventId])).toEqual(
        ids.map((eventId) => ['DELIVERED', 1, eventId]),
      );
      expect(await bench.deliveries.countDocuments({ lease: { $ne: null } })).toBe(0);
      await bench.webhooks.deleteOne({ _id: id });
    },
  });
  expect(points.length).toBeGreaterThan(15);
});

it('ends a webhook that is gone once, with one notice', async () => {
  await sweepWrites({
    name: 'webhook of a receiver that answers 410',
    proxy,
    faults: WRITE_FAULTS,
    async scenario() {
      const receiver = await startReceiver(410);
      const id = await deliverTwo(receiver.url);
      await repeatWhileRetryable(() => worker.publish());
      await repeatWhileRetryable(() => deliverDue(worker));
      await receiver.close();
      return { id, calls: receiver.received.length };
    },
    async check({ id, calls }) {
      expect(calls).toBe(1);
      expect(await bench.webhook(id)).toMatchObject({ status: 'disabled', disabledBy: 'receiver' });
      const published = await bench.events.after(0, 10_000);
      expect(published.filter(({ key }) => key.includes(id)).length).toBe(1);
      expect((await bench.rows(id)).filter(({ state }) => state === 'PENDING')).toEqual([]);
      await bench.webhooks.deleteOne({ _id: id });
    },
  });
});
