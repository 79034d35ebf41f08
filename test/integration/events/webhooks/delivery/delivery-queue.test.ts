import type { CommandStartedEvent } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DELIVERY_RETENTION_DAYS, DeliveryQueue, type WebhookMessage } from '../../../../../src/events/webhooks/delivery-queue.ts';
import { DAY_MS } from '../../../../../src/forecast/day.ts';
import { connectMongo } from '../../../../../src/platform/mongo.ts';
import { type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';

let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());

let webhooks = 0;
function newWebhook() {
  webhooks += 1;
  return { _id: `webhook ${webhooks}`, wallet: '0xabc' };
}

const message = (eventId: number, cause = 'live'): WebhookMessage => ({
  eventId,
  cause,
  type: 'regime.changed',
  messageId: `evt_${eventId}`,
});
const messages = (from: number, to: number, cause?: string) =>
  Array.from({ length: to - from + 1 }, (_, index) => message(from + index, cause));
const attempt = (reason: string | null) => ({ at: bench.clock.now, status: 200, ms: 1, reason });

describe('a queue', () => {
  it('has what was put into it once a cause, in its order, behind what was there', async () => {
    const { queue, clock, rows } = bench;
    const webhook = newWebhook();
    expect(await queue.append(webhook, messages(1, 3), clock.now)).toBe(3);
    expect(await queue.append(webhook, messages(2, 4), clock.now)).toBe(1);
    expect(await queue.append(webhook, messages(1, 2, 'replay:a'), clock.now)).toBe(2);
    expect(await queue.append(webhook, [], clock.now)).toBe(0);
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
    const appended = await Promise.all(writers.map((own) => new DeliveryQueue(bench.db).append(webhook, own, bench.clock.now)));
    expect(appended.reduce((sum, count) => sum + count, 0)).toBe(80);
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
    expect(await queue.listWaiting()).toContain(webhook._id);
    await queue.append(webhook, messages(1, 2), clock.now);
    expect(await timesOf()).toEqual([clock.now, null]);
  });

  it('lists due heads, and keeps scheduled ones', async () => {
    const { queue, clock } = bench;
    const [early, late] = [newWebhook(), newWebhook()];
    for (const webhook of [early, late]) await queue.append(webhook, messages(1, 3), clock.now);
    const later = new Date(clock.now.getTime() + 60_000);
    await queue.postpone((await queue.findHead(late._id))!, later);
    const dueAt = async (at: Date) => (await queue.listDue(at, 100)).map(({ webhookId, position }) => `${webhookId}:${position}`);
    expect(await dueAt(clock.now)).toContain(`${early._id}:1`);
    expect(await dueAt(clock.now)).not.toContain(`${late._id}:1`);
    expect(await dueAt(later)).toContain(`${late._id}:1`);
    expect(await queue.wake(late._id, clock.now)).toMatchObject({ position: 1, nextAttemptAt: later });
  });

  it('lists webhooks with pending messages from the index alone', async () => {
    const { queue, clock, db } = bench;
    await db.collection('webhook_deliveries').deleteMany({});
    const [one, other, done] = [newWebhook(), newWebhook(), newWebhook()];
    for (const webhook of [one, other]) await queue.append(webhook, messages(1, 300), clock.now);
    await queue.append(done, messages(1, 1), clock.now);
    await queue.recordAttempt((await queue.findHead(done._id))!, attempt(null), { state: 'DELIVERED' }, clock.now);
    expect((await queue.listWaiting()).toSorted()).toEqual([one._id, other._id].toSorted());
    const watched = await connectMongo(bench.database.uri, { monitorCommands: true });
    onTestFinished(watched.close);
    const asked: CommandStartedEvent[] = [];
    watched.client.on('commandStarted', (event) => void asked.push(event));
    await new DeliveryQueue(watched.db).listWaiting();
    expect(asked.map(({ commandName }) => commandName)).toEqual(['aggregate']);
    const { aggregate, pipeline, hint } = asked[0]!.command;
    const plan = await db.collection(aggregate).aggregate(pipeline, { hint }).explain('executionStats');
    const { executionStats } = plan.stages[0].$cursor;
    expect(executionStats).toMatchObject({ totalKeysExamined: 2, totalDocsExamined: 0 });
  });

  it('takes one word on an attempt, and goes on behind what is over', async () => {
    const { queue, clock } = bench;
    const webhook = newWebhook();
    await queue.append(webhook, messages(1, 2), clock.now);
    const head = (await queue.findHead(webhook._id))!;
    const later = new Date(clock.now.getTime() + 5_000);
    const again = { state: 'PENDING', nextAttemptAt: later } as const;
    const recorded = await Promise.all(Array.from({ length: 4 }, () => queue.recordAttempt(head, attempt('HTTP 500'), again, clock.now)));
    expect(recorded.filter(Boolean)).toHaveLength(1);
    const second = (await queue.findHead(webhook._id))!;
    expect(second).toMatchObject({ position: 1, attempts: [attempt('HTTP 500')], nextAttemptAt: later, finishedAt: null });
    expect(await queue.recordAttempt(second, attempt(null), { state: 'DELIVERED' }, clock.now)).toBe(true);
    expect(await queue.recordAttempt(second, attempt(null), { state: 'DELIVERED' }, clock.now)).toBe(false);
    expect((await bench.rows(webhook._id))[0]).toMatchObject({ state: 'DELIVERED', nextAttemptAt: null, finishedAt: clock.now });
    expect(await queue.findHead(webhook._id)).toMatchObject({ position: 2 });
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
    expect(await queue.wake(webhook._id, clock.now)).toMatchObject({ position: 3, nextAttemptAt: clock.now });
    await queue.deleteAll(webhook._id);
    expect(await bench.rows(webhook._id)).toEqual([]);
  });

  it('is listed newest first, in pages, by state', async () => {
    const { queue, clock } = bench;
    const webhook = newWebhook();
    await queue.append(webhook, messages(1, 5), clock.now);
    await queue.recordAttempt((await queue.findHead(webhook._id))!, attempt(null), { state: 'DELIVERED' }, clock.now);
    const positions = async (query: Parameters<typeof queue.list>[1]) => (await queue.list(webhook._id, query)).map((row) => row.position);
    expect(await positions({ limit: 2 })).toEqual([5, 4]);
    expect(await positions({ limit: 2, before: 4 })).toEqual([3, 2]);
    expect(await positions({ limit: 9, state: 'DELIVERED' })).toEqual([1]);
    expect(await positions({ limit: 9, state: 'PENDING', before: 4 })).toEqual([3, 2]);
  });

  it('forgets what is over after its days, and goes on counting', async () => {
    const { queue } = bench;
    const webhook = newWebhook();
    const old = new Date(bench.clock.now.getTime() - DELIVERY_RETENTION_DAYS.live * DAY_MS - 1);
    await queue.append(webhook, messages(1, 3), old);
    for (let n = 0; n < 2; n++) await queue.recordAttempt((await queue.findHead(webhook._id))!, attempt(null), { state: 'DELIVERED' }, old);
    await queue.append(webhook, messages(4, 4), bench.clock.now);
    await queue.purge(bench.clock.now);
    expect((await bench.rows(webhook._id)).map(({ position }) => position)).toEqual([3, 4]);
    await queue.append(webhook, messages(5, 5), bench.clock.now);
    expect((await bench.rows(webhook._id)).at(-1)).toMatchObject({ position: 5, eventId: 5 });
  });

  it('forgets replays and tests sooner than what just happened, and nothing that waits', async () => {
    const { queue } = bench;
    const webhook = newWebhook();
    const old = new Date(bench.clock.now.getTime() - DELIVERY_RETENTION_DAYS.asked * DAY_MS - 1);
    const recent = new Date(old.getTime() + 1);
    const deliver = async () => queue.recordAttempt((await queue.findHead(webhook._id))!, attempt(null), { state: 'DELIVERED' }, old);
    const asked = messages(2, 3).map((message) => ({ ...message, cause: `replay:${message.eventId}` }));
    const ping = { eventId: null, type: 'ping', state: 'DELIVERED', attempts: [], nextAttemptAt: null, finishedAt: old } as const;
    await queue.append(webhook, messages(1, 1), old);
    await queue.append(webhook, asked, old);
    for (let n = 0; n < 2; n++) await deliver();
    for (const [n, createdAt] of [old, recent].entries()) {
      const cause = `ping:${n}`;
      await queue.insertFinished(webhook, {
        ...ping,
        attempts: [],
        messageId: `ping_${n}`,
        cause,
        once: `${webhook._id}:${cause}`,
        createdAt,
      });
    }
    await queue.purge(bench.clock.now);
    expect((await bench.rows(webhook._id)).map(({ cause }) => cause)).toEqual(['live', 'replay:3', 'ping:1']);
  });
});
