import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { composeEvents } from '../../../../../src/app/events.ts';
import type { Context } from '../../../../../src/context.ts';
import { type AnyEventDraft, buildForecastDrafts } from '../../../../../src/events/log.ts';
import {
  buildMessageId,
  DeliveryQueue,
  endWebhook,
  fanOutEvents,
  publishWebhookNotices,
} from '../../../../../src/events/webhooks/queue.ts';
import { HORIZONS } from '../../../../../src/forecast/model.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { createShutdown } from '../../../../../src/platform/shutdown.ts';
import { ForecastRecord } from '../../../../../src/record/forecasts.ts';
import { WagerBook } from '../../../../../src/wager/wagers.ts';
import { type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';
import { regimeDraft } from '../../../../support/webhooks/webhook-registry.ts';
import { buildTestForecast } from '../../../../unit/record/forecast-fixture.ts';

let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());
beforeEach(async () => {
  await Promise.all([bench.webhooks.deleteMany({}), bench.db.collection('webhook_deliveries').deleteMany({})]);
});

const URL = 'https://hooks.example.com/';
const queued = async (id: string) => (await bench.rows(id)).map(({ eventId }) => eventId);
const notice = (wallet: string): AnyEventDraft => ({
  type: 'webhook.disabled',
  key: `notice of ${wallet}`,
  at: bench.clock.now,
  horizonDays: null,
  wallet,
  content: { webhookId: 'x', url: URL, reason: 'a reason', failingSince: null },
});

describe('an event', () => {
  it('comes into the queues of its subscribers, by kind, horizon and owner', async () => {
    const { addWebhook, events, clock, worker } = bench;
    const all = await addWebhook(`${URL}all`, { wallet: '0xa' });
    const weekly = await addWebhook(`${URL}weekly`, { wallet: '0xb', horizons: [7] });
    const others = await addWebhook(`${URL}others`, { wallet: '0xc', events: ['wager.placed'] });
    const disabled = await addWebhook(`${URL}disabled`, { status: 'disabled' });
    const last = await events.lastId();
    const drafts = [
      regimeDraft('a kind', clock.now),
      regimeDraft('weekly', clock.now, { horizonDays: 7 }),
      regimeDraft('daily', clock.now, { horizonDays: 1 }),
      notice('0xa'),
      notice('0xc'),
    ];
    await events.append(drafts, clock.now);
    await fanOutEvents(worker());
    expect(await queued(all.id)).toEqual([last + 1, last + 2, last + 3, last + 4]);
    expect(await queued(weekly.id)).toEqual([last + 1, last + 2]);
    expect(await queued(others.id)).toEqual([]);
    expect(await queued(disabled.id)).toEqual([]);
    expect((await bench.rows(all.id))[0]).toMatchObject({
      ...{ messageId: buildMessageId('a kind'), type: 'regime.changed', cause: 'live', state: 'PENDING', attempts: [] },
      ...{ nextAttemptAt: clock.now, wallet: '0xa' },
    });
    expect(buildMessageId('a kind')).toMatch(/^evt_[0-9a-f]{32}$/);
    for (const { id } of [all, weekly, others]) expect((await bench.webhook(id)).queuedThrough).toBe(last + 5);
    expect((await bench.webhook(disabled.id)).queuedThrough).toBe(last);
  });

  it('of a filtered move comes into the queue where its size has changed to one that is listed', async () => {
    const { addWebhook, events, clock, worker } = bench;
    const wild = await addWebhook(`${URL}wild`, { horizons: [1], moveSize: ['WILD'], events: ['signal.new'] });
    const others = await addWebhook(`${URL}others`, { horizons: [1], moveSize: ['CALM', 'USUAL'] });
    const last = await events.lastId();
    const sizes = [null, 'USUAL', 'WILD', 'WILD', 'CALM', 'WILD'] as const;
    const drafts = sizes.flatMap((before, index) =>
      [1, 7].flatMap((horizonDays) => {
        const forecast = buildTestForecast({ date: `2026-02-0${index + 1}`, horizonDays, moveSize: sizes[index + 1] ?? 'USUAL' });
        return buildForecastDrafts(forecast, { change: 'made', at: new Date(clock.now.getTime() + index) }, before);
      }),
    );
    await events.append([...drafts, regimeDraft('of no size', clock.now)], clock.now);
    await Promise.all([fanOutEvents(worker()), fanOutEvents(worker())]);
    expect(await queued(wild.id)).toEqual([last + 3, last + 9]);
    expect(await queued(others.id)).toEqual([last + 7, last + 11, last + 13]);
  });

  it('is not delivered to a webhook registered after it', async () => {
    const older = await bench.addWebhook(`${URL}older`);
    const ids = await bench.happen(2);
    const { id } = await bench.addWebhook(URL);
    ids.push(...(await bench.happen(1)));
    await fanOutEvents(bench.worker());
    expect(await queued(id)).toEqual(ids.slice(2));
    expect(await queued(older.id)).toEqual(ids);
  });

  it('is delivered to a webhook that subscribed before it, even while others are being queued', async () => {
    const { id } = await bench.addWebhook(URL, { events: ['signal.new'] });
    let asked = false;
    const changedBeforeTheLook = async (from: number, limit: number) => {
      if (!asked) {
        asked = true;
        await bench.webhooks.updateOne({ _id: id }, { $set: { events: ['signal.new', 'regime.changed'] } });
        await bench.happen(1);
      }
      return bench.events.after(from, limit);
    };
    await fanOutEvents(bench.worker({ events: { event: bench.events.event, after: changedBeforeTheLook } }));
    expect(await queued(id)).toEqual([await bench.events.lastId()]);
  });

  it('is queued once and in order, however many processes queue it, and wherever one of them died', async () => {
    const hooks = await Promise.all(Array.from({ length: 20 }, (_, n) => bench.addWebhook(`${URL}${n}`)));
    const ids = await bench.happen(450);
    // As left by a process that died after queueing some, and before it wrote that down.
    const { event } = bench.events;
    const after = async (id: number) => (id < ids[9]! ? bench.events.after(id, 10) : []);
    const dead = bench.worker({ events: { event, after } });
    const before = await bench.webhook(hooks[0]!.id);
    await fanOutEvents(dead);
    await bench.webhooks.updateOne({ _id: before._id }, { $set: { queuedThrough: before.queuedThrough } });
    await Promise.all(Array.from({ length: 4 }, () => fanOutEvents(bench.worker())));
    for (const { id } of hooks) expect(await queued(id)).toEqual(ids);
  });
});

describe('a process that dies while it queues', () => {
  it('dies before it records its progress', async () => {
    const { id } = await bench.addWebhook(URL);
    const ids = await bench.happen(3);
    class Dying extends DeliveryQueue {
      override append(): Promise<void> {
        return Promise.reject(new Error('killed'));
      }
    }
    await expect(fanOutEvents(bench.worker({ queue: new Dying(bench.db) }))).rejects.toThrow('killed');
    await fanOutEvents(bench.worker());
    expect(await queued(id)).toEqual(ids);
  });
});

describe('the end of a webhook', () => {
  it('notifies its owner once, even after it was enabled again, with several processes', async () => {
    const { addWebhook, worker, clock, db, events, webhooks } = bench;
    const [ended, stranger] = [await addWebhook(URL, { wallet: '0xowner' }), await addWebhook(`${URL}3`)];
    const other = await addWebhook(`${URL}2`, { wallet: '0xowner', slot: 1 });
    const last = await events.lastId();
    for (const reason of ['the first reason', 'a second one']) {
      const doc = await bench.webhook(ended.id);
      const end = { by: 'receiver', reason, failingSince: null } as const;
      const at = (ms: number) => new Date(clock.now.getTime() + ms);
      await Promise.all([1, 2, 3].map((ms) => endWebhook(db, doc, { ...end, at: at(ms) })));
      await webhooks.updateOne({ _id: ended.id }, { $set: { status: 'active', disabledAt: null, disabledReason: null, disabledBy: null } });
      bench.pass(1_000);
    }
    await Promise.all([1, 2, 3].map(() => publishWebhookNotices({ db, log: events, now: () => clock.now })));
    const published = await events.after(last, 10);
    expect(published.map(({ type, wallet, content }) => [type, wallet, content])).toEqual(
      ['the first reason', 'a second one'].map((reason) => [
        'webhook.disabled',
        '0xowner',
        { webhookId: ended.id, url: 'https://hooks.example.com/***', reason, failingSince: null },
      ]),
    );
    expect((await bench.webhook(ended.id)).outbox).toEqual([]);
    await fanOutEvents(worker());
    expect(await queued(other.id)).toEqual([last + 1, last + 2]);
    expect(await queued(stranger.id)).toEqual([]);
  });

  it('comes into the log as the changes of the record do', async () => {
    const { db, clock, events } = bench;
    const log = createLog({ level: 'silent', secrets: [] });
    const record = new ForecastRecord({ db, saltSecret: 'a secret', horizons: HORIZONS });
    const wagers = new WagerBook(db);
    const push = composeEvents({ db, log, now: () => clock.now, record, shutdown: createShutdown({ log }), wagers } as unknown as Context);
    const { doc } = await bench.addWebhook(URL);
    await endWebhook(db, doc, { by: 'failures', reason: 'down', at: clock.now, failingSince: clock.now });
    expect(await push.publish()).toBe(1);
    expect(await push.publish()).toBe(0);
    expect(await events.event(await events.lastId())).toMatchObject({ type: 'webhook.disabled', wallet: doc.wallet });
  });
});
