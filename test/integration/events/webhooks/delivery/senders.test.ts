import type { Address } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { OracleError } from '../../../../../src/errors.ts';
import { buildForecastDrafts } from '../../../../../src/events/log.ts';
import { PING_MESSAGE } from '../../../../../src/events/webhooks/formats.ts';
import { DeliveryQueue, fanOutEvents, type WebhookDoc, type WebhookWorkerDeps } from '../../../../../src/events/webhooks/queue.ts';
import { HostLimiter } from '../../../../../src/platform/outbound/host-limits.ts';
import { answering, startReceiver } from '../../../../support/webhooks/receiver.ts';
import { verified, type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';
import { testRegistry } from '../../../../support/webhooks/webhook-registry.ts';
import { buildTestForecast } from '../../../../unit/record/forecast-fixture.ts';

let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());
beforeEach(() => bench.webhooks.deleteMany({}));

const send = (id: string, more?: Partial<WebhookWorkerDeps>) => bench.send(id, more);
const states = async (id: string) => (await bench.rows(id)).map(({ state }) => state);

async function receiver(...statuses: [number, ...number[]]) {
  const started = await startReceiver(...statuses);
  onTestFinished(started.close);
  return started;
}

/** Holds each response until it is released. */
async function holding() {
  const held: (() => void)[] = [];
  const [ids, asked] = [[] as number[], [] as PromiseWithResolvers<void>[]];
  const at = (index: number) => (asked[index] ??= Promise.withResolvers<void>());
  const server = await answering(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const count = ids.push((JSON.parse(body) as { id: number }).id);
    held.push(() => response.writeHead(200).end());
    at(count - 1).resolve();
  });
  onTestFinished(server.close);
  return {
    url: `http://127.0.0.1:${server.port}/`,
    ids,
    asked: (index: number) => at(index).promise,
    answer: (index: number) => held[index]!(),
  };
}

/** A webhook with so many events in its queue. */
async function waiting(url: string, count: number, more: Partial<WebhookDoc> = {}) {
  const { id, secret } = await bench.addWebhook(url, more);
  const ids = await bench.happen(count);
  await fanOutEvents(bench.worker());
  return { id, secret, ids };
}

/** As if the time of the lease had passed. */
const expire = (id: string) => bench.deliveries.updateOne({ webhookId: id, state: 'PENDING' }, { $set: { 'lease.until': new Date(0) } });

describe('of several senders', () => {
  it('one sends, and the others leave it alone', async () => {
    const { url, ids, asked, answer } = await holding();
    const { id, ids: events } = await waiting(url, 1);
    const sending = send(id);
    await asked(0);
    await Promise.all([send(id), send(id)]);
    expect(ids).toEqual(events);
    answer(0);
    await sending;
    expect(ids).toEqual(events);
  });

  it('another takes over once the lease of the first is over; what that one still learns counts no more', async () => {
    const { url, ids, asked, answer } = await holding();
    const { id, ids: events } = await waiting(url, 2);
    const stuck = send(id);
    await asked(0);
    await expire(id);
    const other = send(id);
    await asked(1);
    answer(1);
    await asked(2);
    answer(2);
    expect(await other).toBeNull();
    answer(0);
    await stuck;
    // The first one twice, since its answer was not known; nothing out of order.
    expect(ids).toEqual([events[0], events[0], events[1]]);
    expect((await bench.rows(id)).map(({ state, attempts }) => [state, attempts.length])).toEqual([
      ['DELIVERED', 1],
      ['DELIVERED', 1],
    ]);
  });

  it('none calls while its lease could end under way', async () => {
    const { url, received } = await receiver(200);
    const { id } = await waiting(url, 1);
    const sentBefore: number[] = [];
    class AlmostOver extends DeliveryQueue {
      override async claim(leaseMs: number) {
        const claim = await super.claim(leaseMs);
        return claim && { ...claim, expiresAtMs: performance.now() + (sentBefore.push(received.length) === 1 ? 19_000 : leaseMs) };
      }
    }
    await send(id, { queue: new AlmostOver(bench.db, () => bench.clock.now) });
    expect(sentBefore).toEqual([0, 0]);
    expect(received).toHaveLength(1);
  });

  it('none misses what was queued while another one was about to leave', async () => {
    const { url, received } = await receiver(200);
    const { id } = await bench.addWebhook(url);
    for (let round = 0; round < 15; round++) {
      // As in a worker, each append is followed by a turn.
      const turns = Array.from({ length: 3 }, async () => {
        await bench.happen(1);
        await fanOutEvents(bench.worker());
        await send(id);
      });
      await Promise.all(turns);
    }
    const ids = received.map(({ body }) => (JSON.parse(body) as { id: number }).id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(ids).toHaveLength(45);
  });

  it('one that has lost its lease changes nothing any more', async () => {
    const { queue } = bench;
    const { id } = await waiting('https://hooks.example.com/', 1);
    const { delivery: lost } = (await queue.claim(25_000))!;
    expect([lost.webhookId, await queue.claim(25_000)]).toEqual([id, null]);
    await expire(id);
    const { delivery: held } = (await queue.claim(25_000))!;
    await queue.release(lost, { state: 'FAILED' });
    expect(await bench.head(id)).toEqual(held);
    await queue.release(held, { state: 'PENDING', delayMs: 1_000 });
    expect(await queue.claim(25_000)).toBeNull();
    bench.pass(1_000);
    expect((await queue.claim(25_000))!.delivery.webhookId).toBe(id);
  });

  it('one that dies before it writes an answer down is followed by one that sends the same again', async () => {
    const { url, received } = await receiver(200);
    const { id, secret, ids } = await waiting(url, 2);
    class Dying extends DeliveryQueue {
      override release(): Promise<void> {
        return Promise.reject(new Error('killed'));
      }
    }
    await send(id, { queue: new Dying(bench.db, () => bench.clock.now) });
    bench.pass(60_000);
    await send(id);
    expect(
      received.map(
        (call, index) => verified(call, secret, index === 0 ? new Date(bench.clock.now.getTime() - 60_000) : bench.clock.now).id,
      ),
    ).toEqual([ids[0], ids[0], ids[1]]);
    const [one, again, next] = received.map(({ headers }) => headers['webhook-id']);
    expect([again === one, next === one]).toEqual([true, false]);
  });
});

describe('a message', () => {
  const signal = async (key: string) => {
    const doc = { ...buildTestForecast({ state: 'DRAFT' }), _id: key };
    await bench.events.append(buildForecastDrafts(doc, { change: 'made', at: bench.clock.now }), bench.clock.now);
    return doc;
  };
  const sentTo = async (key: string, tier: 'public' | 'basic' | 'premium') => {
    await bench.webhooks.deleteMany({});
    const { url, received } = await receiver(200);
    const { id, secret, doc } = await bench.addWebhook(url);
    await signal(key);
    await fanOutEvents(bench.worker());
    const [asked, tiers] = [[] as string[], [tier]];
    await send(id, { tierOf: async (wallet) => tiers[asked.push(wallet) - 1]! });
    expect(asked).toEqual([doc.wallet]);
    return (verified(received[0]!, secret, bench.clock.now) as unknown as { data: Record<string, unknown> }).data;
  };

  it('is rendered for the tier of its owner at the time of sending', async () => {
    const premium = await sentTo('2026-03-01:1', 'premium');
    expect(premium).toMatchObject({
      signal: expect.stringMatching(/BUY|SELL/),
      salt: expect.stringMatching(/^0x/),
      premium: { climatology: expect.any(Number) },
    });
    const basic = await sentTo('2026-03-02:1', 'basic');
    expect(basic).toMatchObject({ signal: premium.signal, premium: null });
  });

  it('waits without an attempt while the tier of its owner is unknown', async () => {
    const { url, received } = await receiver(200);
    const { id } = await waiting(url, 1);
    const silent = () => Promise.reject(new OracleError('CHAIN_UNREACHABLE', 'no answer'));
    expect((await send(id, { tierOf: silent }))!.nextAttemptAt).toEqual(new Date(bench.clock.now.getTime() + 60_000));
    expect(received).toEqual([]);
    expect((await bench.rows(id))[0]).toMatchObject({ state: 'PENDING', attempts: [] });
    expect((await bench.webhook(id)).failingSince).toBeNull();
    bench.pass(60_000);
    await send(id);
    expect(received).toHaveLength(1);
  });
});

describe('a webhook that ends under way', () => {
  it.each(['disabled', 'deleted'])('is not called any more once it is %s', async (how) => {
    const { url, ids, asked, answer } = await holding();
    const { id } = await waiting(url, 3);
    const sending = send(id);
    await asked(0);
    if (how === 'deleted') await bench.webhooks.deleteOne({ _id: id });
    else await bench.webhooks.updateOne({ _id: id }, { $set: { status: 'disabled', disabledBy: 'operator' } });
    answer(0);
    await sending;
    expect(ids).toHaveLength(1);
    expect(await states(id)).toEqual(how === 'deleted' ? [] : ['DELIVERED', 'CANCELLED', 'CANCELLED']);
  });
});

describe('a stop', () => {
  it('begins nothing new; what is under way may still be answered', async () => {
    const { url, ids, asked, answer } = await holding();
    const { id } = await waiting(url, 2);
    const stopping = new AbortController();
    const sending = send(id, { stopping: stopping.signal });
    await asked(0);
    stopping.abort();
    answer(0);
    expect(await sending).toMatchObject({ position: 2 });
    expect(ids).toHaveLength(1);
    expect(await states(id)).toEqual(['DELIVERED', 'PENDING']);
    expect((await bench.head(id))!.lease ?? null).toBeNull();
  });

  it('aborts a slow call without counting a failure, and another worker retries it', async () => {
    const { url, ids, asked, answer } = await holding();
    const { id } = await waiting(url, 1);
    const [stopping, giveUp] = [new AbortController(), new AbortController()];
    const sending = send(id, { stopping: stopping.signal, abortCalls: giveUp.signal });
    await asked(0);
    stopping.abort();
    giveUp.abort();
    await sending;
    expect(await bench.webhook(id)).toMatchObject({ failingSince: null });
    expect((await bench.rows(id))[0]).toMatchObject({ state: 'PENDING', attempts: [], nextAttemptAt: bench.clock.now, lease: null });
    const again = send(id);
    await asked(1);
    answer(1);
    await again;
    expect([ids.length, await states(id)]).toEqual([2, ['DELIVERED']]);
  });
});

describe('a test', () => {
  const registry = (perMinute = 60) => {
    const now = () => bench.clock.now;
    const share = { maxConcurrent: 1, perMinute };
    const hosts = new HostLimiter({ ...share, perWallet: share, maxConcurrentPerWallet: 1, now });
    return testRegistry(bench.db, { now, allowLocal: true, parts: { hosts } });
  };
  const ping = async (id: string, perMinute?: number) => registry(perMinute).test((await bench.webhook(id)).wallet as Address, id);

  it('is sent past the queue, verifies under the standard, and stands in the log', async () => {
    const { url, received } = await receiver(200);
    const { id, secret } = await waiting(url, 1);
    const row = await ping(id);
    const message = verified(received[0]!, secret, bench.clock.now);
    expect(PING_MESSAGE.strict().parse(message)).toEqual({
      ...{ id: null, type: 'ping', timestamp: bench.clock.now.toISOString() },
      data: { webhookId: id },
    });
    expect(received[0]!.headers['webhook-id']).toBe(row.messageId);
    expect(row).toMatchObject({ type: 'ping', state: 'DELIVERED', position: 2, attempts: [{ status: 200, reason: null }] });
    expect((await bench.rows(id))[1]).toEqual(row);
    expect(await send(id)).toBeNull();
    expect(await states(id)).toEqual(['DELIVERED', 'DELIVERED']);
  });

  it.each([410, 500])('that is answered with %i changes nothing, of a disabled one either', async (status) => {
    const { url } = await receiver(status);
    for (const state of ['active', 'disabled'] as const) {
      const { id, doc } = await bench.addWebhook(url, { status: state });
      expect(await ping(id)).toMatchObject({ state: 'FAILED', attempts: [{ status, reason: `HTTP ${status}` }], nextAttemptAt: null });
      expect(await bench.webhook(id)).toEqual({ ...doc, testedAt: bench.clock.now });
    }
  });

  it('is not sent to a host that was called too often', async () => {
    const { url, received } = await receiver(200);
    const { id } = await bench.addWebhook(url);
    await expect(ping(id, 0)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 30 });
    expect(received).toEqual([]);
  });
});
