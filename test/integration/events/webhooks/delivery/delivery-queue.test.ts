import type { CommandStartedEvent, Document } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { purgeExpired } from '../../../../../src/app/retention.ts';
import { DELIVERY_RETENTION_DAYS, DeliveryQueue } from '../../../../../src/events/webhooks/queue.ts';
import { DAY_MS } from '../../../../../src/forecast/day.ts';
import { connectMongo } from '../../../../../src/platform/mongo.ts';
import { type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';

let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());
beforeEach(() => bench.deliveries.deleteMany({}));

let webhooks = 0;
function newWebhook() {
  webhooks += 1;
  return { _id: `webhook ${webhooks}`, wallet: '0xabc' };
}

const message = (eventId: number, cause = 'live') => ({
  eventId,
  cause,
  type: 'regime.changed' as const,
  messageId: `evt_${eventId}`,
});
const messages = (from: number, to: number, cause?: string) =>
  Array.from({ length: to - from + 1 }, (_, index) => message(from + index, cause));
const attempt = (reason: string | null) => ({ at: bench.clock.now, status: 200, ms: 1, reason });
/** Writes down what became of the next message that is due. */
const finish = async (outcome: Parameters<DeliveryQueue['release']>[1]) =>
  bench.queue.release((await bench.queue.claim(25_000))!.delivery, outcome);
const delivered = (at = bench.clock.now) => finish({ state: 'DELIVERED', attempt: { ...attempt(null), at } });

describe('a queue', () => {
  it('has what was put into it once a cause, in its order, behind what was there', async () => {
    const { queue, clock, rows } = bench;
    const webhook = newWebhook();
    await queue.append(webhook, messages(1, 3), clock.now);
    await queue.append(webhook, messages(2, 4), clock.now);
    await queue.append(webhook, messages(1, 2, 'replay:a'), clock.now);
    await queue.append(webhook, [], clock.now);
    expect((await rows(webhook._id)).map(({ position, eventId, cause, state }) => [position, eventId, cause, state])).toEqual([
      [1, 1, 'live', 'PENDING'],
      [2, 2, 'live', 'PENDING'],
      [3, 3, 'live', 'PENDING'],
      [4, 4, 'live', 'PENDING'],
      [5, 1, 'replay:a', 'PENDING'],
      [6, 2, 'replay:a', 'PENDING'],
    ]);
  });

  it('has no gap, no double and one order while many processes fill it at once', async () => {
    const webhook = newWebhook();
    const writers = [...Array.from({ length: 6 }, () => messages(1, 40)), messages(1, 20, 'replay:a'), messages(1, 20, 'replay:b')];
    await Promise.all(writers.map((own) => new DeliveryQueue(bench.db).append(webhook, own, bench.clock.now)));
    const rows = await bench.rows(webhook._id);
    expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    for (const cause of ['live', 'replay:a', 'replay:b']) {
      const ids = rows.filter((row) => row.cause === cause).map(({ eventId }) => eventId);
      expect(ids).toEqual(ids.map((_, index) => index + 1));
    }
  });

  it('makes only its head due, even after the appending process died', async () => {
    const { queue, clock, db } = bench;
    const webhook = newWebhook();
    await queue.append(webhook, messages(1, 2), clock.now);
    const timesOf = async () => (await bench.rows(webhook._id)).map(({ nextAttemptAt }) => nextAttemptAt);
    expect(await timesOf()).toEqual([clock.now, null]);
    await db.collection('webhook_deliveries').updateMany({ webhookId: webhook._id }, { $set: { nextAttemptAt: null } });
    await queue.append(webhook, messages(1, 2), clock.now);
    expect(await timesOf()).toEqual([clock.now, null]);
    await db.collection('webhook_deliveries').updateMany({ webhookId: webhook._id }, { $set: { nextAttemptAt: null } });
    await queue.wakeAll();
    expect(await timesOf()).toEqual([clock.now, null]);
  });

  it('leases due heads, the longest due first, and keeps scheduled ones', async () => {
    const { queue, clock } = bench;
    const [first, second] = [newWebhook(), newWebhook()];
    for (const webhook of [first, second]) {
      await queue.append(webhook, messages(1, 3), clock.now);
      bench.pass(1);
    }
    const claimed = async () => (await queue.claim(25_000))?.delivery._id;
    expect([await claimed(), await claimed(), await claimed()]).toEqual([`${first._id}:1`, `${second._id}:1`, undefined]);
    bench.pass(25_000);
    await finish({ state: 'PENDING', delayMs: 60_000 });
    const later = new Date(clock.now.getTime() + 60_000);
    await queue.wake(first._id);
    await queue.wakeAll();
    expect((await bench.rows(first._id)).map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([later, null, null]);
    expect(await claimed()).toBe(`${second._id}:1`);
    expect(await claimed()).toBeUndefined();
    await queue.makeDue(first._id);
    expect(await claimed()).toBe(`${first._id}:1`);
  });

  it('is looked at through its indexes: neither what is scheduled later nor what waits behind is read', async () => {
    const { queue, clock, deliveries } = bench;
    const [done, one, other] = [newWebhook(), newWebhook(), newWebhook()];
    await queue.append(done, messages(1, 1), clock.now);
    await delivered();
    for (const webhook of [one, other]) await queue.append(webhook, messages(1, 300), clock.now);
    await finish({ state: 'PENDING', delayMs: 60_000 });
    const watched = await connectMongo(bench.database.uri, { monitorCommands: true });
    onTestFinished(watched.close);
    const asked: CommandStartedEvent[] = [];
    watched.client.on('commandStarted', (event) => void asked.push(event));
    const watching = new DeliveryQueue(watched.db, () => clock.now);
    await watching.wakeAll();
    expect((await watching.claim(25_000))!.delivery.position).toBe(1);
    expect(asked.map(({ commandName }) => commandName)).toEqual(['aggregate', 'findAndModify']);
    const [{ pipeline, hint }, { query, sort, hint: byTime }] = asked.map(({ command }) => command) as [Document, Document];
    const heads = await deliveries.aggregate(pipeline, { hint }).explain('executionStats');
    expect((heads.stages?.[0].$cursor ?? heads).executionStats).toMatchObject({ totalKeysExamined: 2, totalDocsExamined: 2 });
    const { executionStats } = await deliveries.find(query, { hint: byTime }).sort(sort).explain('executionStats');
    // The one that is leased by now.
    expect(executionStats).toMatchObject({ totalDocsExamined: 1, nReturned: 0 });
  });

  it('takes one word on an attempt, and goes on behind what is over', async () => {
    const { queue, clock } = bench;
    const webhook = newWebhook();
    await queue.append(webhook, messages(1, 2), clock.now);
    const { delivery } = (await queue.claim(25_000))!;
    const failed = { state: 'PENDING', attempt: attempt('HTTP 500'), delayMs: 5_000 } as const;
    await Promise.all(Array.from({ length: 4 }, () => queue.release(delivery, failed)));
    const nextAttemptAt = new Date(clock.now.getTime() + 5_000);
    const second = { position: 1, attempts: [attempt('HTTP 500')], nextAttemptAt, finishedAt: null, lease: null };
    expect(await bench.head(webhook._id)).toMatchObject(second);
    bench.pass(5_000);
    await delivered();
    await queue.release(delivery, { state: 'FAILED' });
    expect((await bench.rows(webhook._id))[0]).toMatchObject({ state: 'DELIVERED', nextAttemptAt: null, finishedAt: clock.now });
    await queue.wake(webhook._id);
    expect(await bench.head(webhook._id)).toMatchObject({ position: 2, nextAttemptAt: clock.now });
  });

  it('of a webhook that was disabled is cancelled, but not what came when it was enabled again', async () => {
    const { queue, clock } = bench;
    const webhook = newWebhook();
    await queue.append(webhook, messages(1, 2), clock.now);
    const disabledAt = clock.now;
    bench.pass(1_000);
    await queue.append(webhook, messages(3, 3), clock.now);
    await queue.cancel(webhook._id, disabledAt);
    expect((await bench.rows(webhook._id)).map(({ state }) => state)).toEqual(['CANCELLED', 'CANCELLED', 'PENDING']);
    await queue.wake(webhook._id);
    expect(await bench.head(webhook._id)).toMatchObject({ position: 3, nextAttemptAt: clock.now });
    await queue.deleteAll(webhook._id);
    expect(await bench.rows(webhook._id)).toEqual([]);
  });

  it('is listed newest first, in pages, by state', async () => {
    const { queue, clock } = bench;
    const webhook = newWebhook();
    await queue.append(webhook, messages(1, 5), clock.now);
    await delivered();
    const positions = async (query: Parameters<typeof queue.list>[1]) => (await queue.list(webhook._id, query)).map((row) => row.position);
    expect(await positions({ limit: 2 })).toEqual([5, 4]);
    expect(await positions({ limit: 2, before: 4 })).toEqual([3, 2]);
    expect(await positions({ limit: 9, state: 'DELIVERED' })).toEqual([1]);
    expect(await positions({ limit: 9, state: 'PENDING', before: 4 })).toEqual([3, 2]);
  });

  it('forgets after its days what is over, and what waits for an event that is no longer kept, and goes on counting', async () => {
    const { queue } = bench;
    const webhook = newWebhook();
    const old = new Date(bench.clock.now.getTime() - DELIVERY_RETENTION_DAYS.live * DAY_MS - 1);
    await queue.append(webhook, messages(1, 3), old);
    for (let n = 0; n < 2; n++) {
      await delivered(old);
      await queue.wake(webhook._id);
    }
    await queue.append(webhook, messages(4, 4), bench.clock.now);
    await purgeExpired(bench.database.db, bench.clock.now);
    expect((await bench.rows(webhook._id)).map(({ position }) => position)).toEqual([4]);
    await queue.append(webhook, messages(5, 5), bench.clock.now);
    expect((await bench.rows(webhook._id)).at(-1)).toMatchObject({ position: 5, eventId: 5 });
  });
});
