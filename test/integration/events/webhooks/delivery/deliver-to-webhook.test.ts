import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer as createRaw, Socket } from 'node:net';
import type { Address } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { MAX_DELIVERY_ATTEMPTS } from '../../../../../src/events/asyncapi.ts';
import {
  DeliveryQueue,
  fanOutEvents,
  RETRY_DELAYS_MS,
  RETRY_JITTER,
  TIER_RECHECK_MS,
  type WebhookDoc,
  type WebhookWorkerDeps,
} from '../../../../../src/events/webhooks/queue.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../../src/forecast/day.ts';
import type { ResolveHostname } from '../../../../../src/platform/outbound/guarded.ts';
import { parseTraceparent } from '../../../../../src/platform/tracing.ts';
import { fullSemaphore } from '../../../../support/network/full-queue.ts';
import { answering, listening, startReceiver } from '../../../../support/webhooks/receiver.ts';
import { verified, type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';
import { testRegistry } from '../../../../support/webhooks/webhook-registry.ts';

let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());
beforeEach(() => bench.webhooks.deleteMany({}));
afterEach(() => vi.restoreAllMocks());

async function closing<T extends { close(): Promise<void> }>(opened: Promise<T>): Promise<T> {
  const server = await opened;
  onTestFinished(server.close);
  return server;
}

const receiver = (...statuses: [number, ...number[]]) => closing(startReceiver(...statuses));
const urlOf = ({ port }: { port: number }) => `http://127.0.0.1:${port}/`;
const answers = async (listener: RequestListener) => urlOf(await closing(answering(listener)));

/** A webhook with so many events in its queue. */
async function waiting(url: string, count: number, more: Partial<WebhookDoc> = {}) {
  const { id, secret } = await bench.addWebhook(url, more);
  const ids = await bench.happen(count);
  await fanOutEvents(bench.worker());
  return { id, secret, ids };
}

const send = (id: string, more?: Partial<WebhookWorkerDeps>) => bench.send(id, more);
const states = async (id: string) => (await bench.rows(id)).map(({ state }) => state);
const first = async (id: string) => (await bench.rows(id))[0]!;
const idsOf = (received: readonly { body: string }[]) => received.map(({ body }) => (JSON.parse(body) as { id: number }).id);

describe('what waits for a webhook', () => {
  it('is sent in order, each verifies under the standard, and what was answered is written down', async () => {
    const { url, received } = await receiver(200, 204);
    const { id, secret, ids } = await waiting(url, 3);
    expect(await send(id)).toBeNull();
    expect(received.map((call) => verified(call, secret, bench.clock.now).id)).toEqual(ids);
    expect(received[0]!.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'bitcoin-signal-oracle' });
    const event = (await bench.events.event(ids[0]!))!;
    expect(JSON.parse(received[0]!.body)).toMatchObject({ id: ids[0], type: 'regime.changed', timestamp: event.at.toISOString() });
    const rows = await bench.rows(id);
    expect(rows.map(({ messageId }) => messageId)).toEqual(received.map(({ headers }) => headers['webhook-id']));
    expect(rows[0]).toMatchObject({
      state: 'DELIVERED',
      attempts: [{ at: bench.clock.now, status: 200, ms: expect.any(Number), reason: null }],
      nextAttemptAt: null,
      finishedAt: bench.clock.now,
    });
    expect(rows.map(({ state }) => state)).toEqual(['DELIVERED', 'DELIVERED', 'DELIVERED']);
    expect(await bench.webhook(id)).toMatchObject({ failingSince: null });
  });

  it('carries the trace of its cause, with a span id of its own in each attempt', async () => {
    const { url, received } = await receiver(500, 200);
    const { id, ids } = await waiting(url, 1);
    const traceId = randomBytes(16).toString('hex');
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    await bench.db.collection('webhook_deliveries').updateOne({ webhookId: id, eventId: ids[0]! }, { $set: { traceparent } });
    await send(id);
    bench.pass(RETRY_DELAYS_MS[0]! * (1 + RETRY_JITTER));
    await send(id);
    const headers = received.map((call) => parseTraceparent(call.headers.traceparent)!);
    expect(headers.map((header) => [header.traceId, header.isSampled])).toEqual([
      [traceId, true],
      [traceId, true],
    ]);
    expect(new Set([...headers.map(({ spanId }) => spanId), 'b7ad6b7169203331']).size).toBe(3);
  });

  it('is tried again at the steps of the standard, and what is behind it waits', async () => {
    const { url, received } = await receiver(500, 404, 503, 200);
    const { id, secret, ids } = await waiting(url, 2);
    const began = bench.clock.now;
    for (const step of RETRY_DELAYS_MS.slice(0, 3)) {
      const { nextAttemptAt } = (await send(id, { random: Math.random }))!;
      const pause = nextAttemptAt!.getTime() - bench.clock.now.getTime();
      expect(pause).toBeGreaterThanOrEqual(step);
      expect(pause).toBeLessThanOrEqual(step * (1 + RETRY_JITTER));
      expect((await bench.webhook(id)).failingSince).toEqual(began);
      bench.pass(pause - 1);
      const so = received.length;
      await send(id);
      expect(received).toHaveLength(so);
      bench.pass(1);
    }
    expect(await send(id)).toBeNull();
    expect(idsOf(received)).toEqual([ids[0], ids[0], ids[0], ids[0], ids[1]]);
    const { attempts } = await first(id);
    expect(attempts.map(({ status, reason }) => [status, reason])).toEqual([
      [500, 'HTTP 500'],
      [404, 'HTTP 404'],
      [503, 'HTTP 503'],
      [200, null],
    ]);
    // Each attempt is signed anew, as old signatures are refused, under the same id.
    expect(received.slice(0, 4).map(({ headers }) => headers['webhook-timestamp'])).toEqual(
      attempts.map(({ at }) => String(Math.floor(at.getTime() / 1_000))),
    );
    expect(new Set(received.slice(0, 4).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    received.slice(0, 4).forEach((call, index) => {
      verified(call, secret, attempts[index]!.at);
    });
    expect((await bench.webhook(id)).failingSince).toBeNull();
  });

  it('is due at once when a test is taken, and not when one is rejected', async () => {
    const { url, received } = await receiver(500, 503, 204, 200);
    const { id, ids } = await waiting(url, 2);
    const { nextAttemptAt } = (await send(id))!;
    const { wallet } = await bench.webhook(id);
    const registry = testRegistry(bench.db, { now: () => bench.clock.now, allowLocal: true });
    expect((await registry.test(wallet as Address, id)).state).toBe('FAILED');
    expect((await first(id)).nextAttemptAt).toEqual(nextAttemptAt);
    bench.pass(5_000);
    expect((await registry.test(wallet as Address, id)).state).toBe('DELIVERED');
    expect(await send(id)).toBeNull();
    const events = received.filter(({ body }) => JSON.parse(body).type !== 'ping');
    expect(idsOf(events)).toEqual([ids[0], ids[0], ids[1]]);
  });

  it('is due at once at a new URL', async () => {
    const [old, fresh] = [await receiver(500), await receiver(200)];
    const { id, ids } = await waiting(old.url, 2);
    await send(id);
    const { wallet } = await bench.webhook(id);
    await testRegistry(bench.db, { now: () => bench.clock.now, allowLocal: true }).change(wallet as Address, id, { url: fresh.url });
    expect(await send(id)).toBeNull();
    expect(idsOf(fresh.received)).toEqual(ids);
  });

  it('is given up on after ten attempts, and the next one goes on', async () => {
    const { url, received } = await receiver(...(Array(MAX_DELIVERY_ATTEMPTS).fill(500) as [number]), 200);
    const { id, ids } = await waiting(url, 2);
    for (let attempt = 1; attempt < MAX_DELIVERY_ATTEMPTS; attempt++) {
      const { nextAttemptAt } = (await send(id))!;
      bench.clock.now = nextAttemptAt!;
    }
    await send(id);
    expect(await states(id)).toEqual(['FAILED', 'DELIVERED']);
    expect(idsOf(received)).toEqual([...Array(MAX_DELIVERY_ATTEMPTS).fill(ids[0]), ids[1]]);
    expect((await first(id)).attempts).toHaveLength(MAX_DELIVERY_ATTEMPTS);
  });

  it.each([
    ['seconds', () => ({ 'Retry-After': '90' })],
    ['a date', () => ({ 'Retry-After': new Date(10_090_000).toUTCString(), Date: new Date(10_000_000).toUTCString() })],
  ])('is put off as far as the receiver asks, in %s', async (_how, headers) => {
    const url = await answers((_request, response) => response.writeHead(429, headers()).end());
    const { id } = await waiting(url, 1);
    const { nextAttemptAt } = (await send(id))!;
    expect((nextAttemptAt!.getTime() - bench.clock.now.getTime()) / 1_000).toBeCloseTo(90.5, 5);
  });

  it('of an event that is kept no longer is given up on, and the next one goes on', async () => {
    const { url, received } = await receiver(200);
    const { id, ids } = await waiting(url, 2);
    const { event } = bench.events;
    const forgetful = {
      ...bench.worker().events,
      event: async (wanted: number) => (wanted === ids[0] ? null : event.call(bench.events, wanted)),
    };
    await send(id, { events: forgetful as WebhookWorkerDeps['events'] });
    expect(idsOf(received)).toEqual([ids[1]]);
    expect(await first(id)).toMatchObject({ state: 'FAILED', attempts: [{ status: null, reason: 'The event is no longer kept' }] });
  });
});

describe('a receiver', () => {
  it('that hangs costs its time, and counts as a failure', async () => {
    const { id } = await waiting(await answers(() => undefined), 1);
    const started = performance.now();
    await send(id, { timeoutMs: 200 });
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(await first(id)).toMatchObject({ state: 'PENDING', attempts: [{ status: null, reason: 'No answer (ETIMEDOUT)' }] });
    expect((await first(id)).attempts[0]!.ms).toBeGreaterThanOrEqual(190);
  });

  it.each([
    ['just in time has taken it', 100, 'DELIVERED'],
    ['too late has not', 2_000, 'PENDING'],
  ])('that answers %s', async (_what, ms, state) => {
    const timers: NodeJS.Timeout[] = [];
    const url = await answers((_request, response) => void timers.push(setTimeout(() => response.writeHead(200).end(), ms)));
    onTestFinished(() => timers.forEach(clearTimeout));
    const { id } = await waiting(url, 1);
    await send(id, { timeoutMs: 700 });
    expect(await states(id)).toEqual([state]);
  });

  it('whose answer never ends has taken it with its status, and holds us up for no longer than the limit', async () => {
    const url = await answers((_request, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.writeHead(200).on('close', () => clearInterval(timer));
    });
    const { id } = await waiting(url, 1);
    await send(id, { timeoutMs: 300 });
    expect(await states(id)).toEqual(['DELIVERED']);
  });

  it('that drips its headers has not answered', async () => {
    const server = createRaw((socket) => {
      const bytes = 'HTTP/1.1 200 OK\r\nX-A: '[Symbol.iterator]();
      const timer = setInterval(() => socket.write(bytes.next().value ?? 'x'), 10);
      socket.on('close', () => clearInterval(timer));
    });
    const { id } = await waiting(urlOf(await closing(listening(server))), 1);
    await send(id, { timeoutMs: 400 });
    expect(await first(id)).toMatchObject({ state: 'PENDING', attempts: [{ status: null, reason: 'No answer (ETIMEDOUT)' }] });
  });

  it('that points elsewhere is not followed', async () => {
    const other = await receiver(200);
    const url = await answers((_request, response) => response.writeHead(307, { Location: other.url }).end());
    const { id } = await waiting(url, 1);
    await send(id);
    expect(other.received).toEqual([]);
    expect(await first(id)).toMatchObject({ attempts: [{ status: 307, reason: 'HTTP 307: redirects are not followed' }] });
  });

  it('under a name that leads to this machine at the second look-up is never connected to', async () => {
    const { port, received } = await receiver(200);
    const resolve = vi.fn<ResolveHostname>(async () => ['127.0.0.1']).mockResolvedValueOnce(['93.184.215.14']);
    const asked = vi.spyOn(Socket.prototype, 'connect').mockImplementation(refuseConnection);
    const { id } = await waiting(`https://hooks.example.com:${port}/`, 1);
    // The database has its own connections, and may open more.
    const connections = () => asked.mock.calls.filter(isOurs).length;
    const guarded = { targets: { allowLocal: false, resolve } };
    await send(id, guarded);
    expect((await first(id)).attempts).toMatchObject([{ status: null, reason: 'No answer (ENETUNREACH)' }]);
    expect(connections()).toBe(1);
    bench.pass(HOUR_MS);
    await send(id, guarded);
    expect((await first(id)).attempts[1]).toMatchObject({
      status: null,
      reason: 'The URL leads to an address that is not on the public internet',
    });
    expect(connections()).toBe(1);
    expect(received).toEqual([]);
  });

  it('on this machine is not called where that is not allowed, and the attempt says what allows it', async () => {
    const { url, received } = await receiver(200);
    const { id } = await waiting(url, 1);
    await send(id, { targets: { allowLocal: false, resolve: async () => [] } });
    expect(await first(id)).toMatchObject({
      state: 'PENDING',
      attempts: [{ status: null, reason: 'Hosts of this machine are called only with PUSH_LOCAL_TARGETS=allow' }],
    });
    expect(received).toEqual([]);
  });

  it('is disabled by a 410 response; pending messages are cancelled and the owner is notified', async () => {
    const { url, received } = await receiver(410);
    const watching = await receiver(200);
    const { id } = await waiting(url, 3);
    const { wallet } = await bench.webhook(id);
    const owner = await bench.addWebhook(watching.url, { wallet, slot: 1, events: ['webhook.disabled'] });
    expect(await send(id)).toBeNull();
    expect(received).toHaveLength(1);
    expect(await bench.webhook(id)).toMatchObject({
      status: 'disabled',
      disabledAt: bench.clock.now,
      disabledReason: 'The receiver answered 410 Gone',
      disabledBy: 'receiver',
    });
    expect(await states(id)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
    expect((await first(id)).attempts).toMatchObject([{ status: 410, reason: 'HTTP 410' }]);

    const worker = bench.worker();
    await worker.publish();
    await fanOutEvents(worker);
    await send(owner.id);
    const notice = verified(watching.received[0]!, owner.secret, bench.clock.now);
    expect(notice).toMatchObject({
      type: 'webhook.disabled',
      data: {
        webhookId: id,
        url: `${new URL(url).origin}/***`,
        reason: 'The receiver answered 410 Gone',
        enableUrl: `http://127.0.0.1:3000/api/svc/webhooks/${id}/enable`,
      },
    });
    await bench.happen(1);
    await fanOutEvents(worker);
    await send(id);
    expect([received.length, (await bench.rows(id)).length]).toEqual([1, 3]);
  });
});

describe('an answer of a URL that was changed meanwhile', () => {
  /** A receiver that answers once the webhook leads elsewhere. */
  async function changedUnderWay(status: number, more: Partial<WebhookDoc> = {}) {
    const fresh = await receiver(200);
    const change = async () => {
      const { wallet } = await bench.webhook(id);
      await testRegistry(bench.db, { now: () => bench.clock.now, allowLocal: true }).change(wallet as Address, id, { url: fresh.url });
    };
    const old = await answers((_request, response) => void change().then(() => response.writeHead(status).end()));
    const { id, ids } = await waiting(old, 2, more);
    return { id, ids, fresh };
  }

  it.each([
    ['a failure', 500, {}],
    ['410', 410, {}],
    ['the last one of five days', 500, { failingSince: new Date('2026-01-01T00:00:00Z') }],
  ])('changes nothing where it is %s', async (_which, status, more) => {
    const { id, ids, fresh } = await changedUnderWay(status, more);
    expect(await send(id)).toBeNull();
    expect(await bench.webhook(id)).toMatchObject({ status: 'active', failingSince: null, url: `${fresh.url}/***` });
    expect(await states(id)).toEqual(['DELIVERED', 'DELIVERED']);
    expect(idsOf(fresh.received)).toEqual(ids);
  });

  it('leaves the new one all of its attempts', async () => {
    const { url } = await receiver(500);
    const { id } = await waiting(url, 1);
    for (let attempt = 1; attempt < MAX_DELIVERY_ATTEMPTS; attempt++) bench.clock.now = (await send(id))!.nextAttemptAt!;
    const fresh = await receiver(500, 200);
    const { wallet } = await bench.webhook(id);
    await testRegistry(bench.db, { now: () => bench.clock.now, allowLocal: true }).change(wallet as Address, id, { url: fresh.url });
    bench.clock.now = (await send(id))!.nextAttemptAt!;
    await send(id);
    expect(await states(id)).toEqual(['DELIVERED']);
  });
});

describe('a process that dies between the end of a webhook and that of its delivery', () => {
  it('leaves it ended, and what waits is cancelled', async () => {
    const { url, received } = await receiver(410);
    const { id } = await waiting(url, 2);
    class Dying extends DeliveryQueue {
      override release(): Promise<void> {
        return Promise.reject(new Error('killed'));
      }
    }
    await send(id, { queue: new Dying(bench.db, () => bench.clock.now) });
    expect(await bench.webhook(id)).toMatchObject({ status: 'disabled', disabledBy: 'receiver' });
    bench.pass(MINUTE_MS);
    await send(id);
    expect([await states(id), received.length]).toEqual([['CANCELLED', 'CANCELLED'], 1]);
  });
});

describe('secrets', () => {
  it('both sign while they change, and the old one not after its end', async () => {
    const { url, received } = await receiver(200);
    const { id, secret } = await waiting(url, 1);
    const fresh = 'a new secret of the caller, long enough';
    const validUntil = new Date(bench.clock.now.getTime() + 24 * HOUR_MS);
    const { sealedSecret } = await bench.webhook(id);
    const rotated = { sealedSecret: bench.seal(id, fresh), previousSecret: { sealed: sealedSecret, validUntil } };
    await bench.webhooks.updateOne({ _id: id }, { $set: rotated });
    const inBase64 = Buffer.from(fresh).toString('base64');
    await send(id);
    for (const key of [secret, inBase64]) verified(received[0]!, key, bench.clock.now);

    bench.pass(24 * HOUR_MS);
    await bench.happen(1);
    await fanOutEvents(bench.worker());
    await send(id);
    verified(received[1]!, inBase64, bench.clock.now);
    expect(() => verified(received[1]!, secret, bench.clock.now)).toThrow('No matching signature');
  });

  it('that cannot be decrypted change nothing, and are retried and logged once a minute', async () => {
    const { url, received } = await receiver(200);
    const { id, secret } = await waiting(url, 1, { sealedSecret: 'v1.AAAA' });
    const logged = () => bench.lines.filter((line) => line.includes(id) && line.includes('does not open')).length;
    for (let second = 0; second < 60; second++) {
      const head = (await send(id))!;
      if (second === 0) expect(head.nextAttemptAt).toEqual(new Date(bench.clock.now.getTime() + 60_000));
      bench.pass(1_000);
    }
    expect(logged()).toBe(1);
    await send(id);
    expect([logged(), received.length]).toEqual([2, 0]);
    expect(await first(id)).toMatchObject({ state: 'PENDING', attempts: [] });
    expect(await bench.webhook(id)).toMatchObject({ status: 'active', failingSince: null });
    expect(bench.lines.join()).not.toContain('v1.AAAA');

    await bench.webhooks.updateOne({ _id: id }, { $set: { sealedSecret: bench.seal(id, secret) } });
    bench.pass(60_000);
    await send(id);
    expect(received).toHaveLength(1);
  });
});

describe('a host', () => {
  it('that has its share under way is called later, and nothing counts as an attempt', async () => {
    const { url, received } = await receiver(200);
    const { id } = await waiting(url, 1);
    const busy = { hosts: { run: async () => 'busy' as const } as unknown as WebhookWorkerDeps['hosts'] };
    expect((await send(id, busy))!.nextAttemptAt).toEqual(new Date(bench.clock.now.getTime() + 1_000));
    expect([(await first(id)).attempts, received.length]).toEqual([[], 0]);
    bench.pass(1_000);
    await send(id, busy);
    bench.pass(1_000);
    await send(id);
    expect(received).toHaveLength(1);
  });
});

describe('a name that cannot be looked up since too many others are', () => {
  it('is looked up later, and nothing counts as an attempt', async () => {
    const { url, received } = await receiver(200);
    const { id } = await waiting(url.replace('127.0.0.1', 'localhost'), 1);
    const full = fullSemaphore();
    const targets = { allowLocal: true, resolve: () => full.run(async () => ['127.0.0.1']) };
    expect((await send(id, { targets }))!.nextAttemptAt).toEqual(new Date(bench.clock.now.getTime() + 1_000));
    expect(await first(id)).toMatchObject({ state: 'PENDING', attempts: [] });
    expect(await bench.webhook(id)).toMatchObject({ failingSince: null });
    bench.pass(1_000);
    await send(id);
    expect(received).toHaveLength(1);
  });
});

const realConnect = Socket.prototype.connect;
const isOurs = (words: unknown[]) => words.flat().some((word) => (word as { host?: unknown } | null)?.host === 'hooks.example.com');

/** There is no network, but for the database. */
function refuseConnection(this: Socket, ...words: Parameters<Socket['connect']>): Socket {
  if (!isOurs(words)) return realConnect.apply(this, words);
  queueMicrotask(() => this.destroy(Object.assign(new Error('no network'), { code: 'ENETUNREACH' })));
  return this;
}

describe('a webhook of a wallet that lost its tier', () => {
  const registry = () => testRegistry(bench.db, { now: () => bench.clock.now, allowLocal: true });
  /** A worker that counts how often the tier is asked for. */
  function worker(tier: 'public' | 'basic') {
    const tierOf = vi.fn(async () => tier);
    const run = async (id: string) => {
      await fanOutEvents(bench.worker());
      await send(id, { tierOf });
    };
    return { tierOf, run };
  }

  it('is suspended at its next delivery: nothing is sent, nothing more is queued, and what waits stays', async () => {
    const { url, received } = await receiver(200);
    const { id } = await waiting(url, 2);
    const { tierOf, run } = worker('public');
    await run(id);
    await bench.happen(3);
    await run(id);
    expect([received.length, await states(id), tierOf.mock.calls.length]).toEqual([0, ['PENDING', 'PENDING'], 1]);
    const { wallet } = await bench.webhook(id);
    expect(await registry().get(wallet as Address, id)).toMatchObject({
      status: 'suspended',
      suspendedAt: bench.clock.now,
      disabledAt: null,
    });
    bench.pass(TIER_RECHECK_MS - 1);
    await run(id);
    expect(tierOf).toHaveBeenCalledTimes(1);
    bench.pass(1);
    await run(id);
    expect([received.length, tierOf.mock.calls.length, (await first(id)).state]).toEqual([0, 2, 'PENDING']);
  });

  it('gets everything in order once the tier is back', async () => {
    const { url, received } = await receiver(200);
    const { id, ids } = await waiting(url, 2);
    await worker('public').run(id);
    const meanwhile = await bench.happen(3);
    bench.pass(TIER_RECHECK_MS);
    const { run } = worker('basic');
    await run(id);
    await run(id);
    expect(idsOf(received)).toEqual([...ids, ...meanwhile]);
    expect(await bench.webhook(id)).toMatchObject({ status: 'active', suspendedAt: null });
  });

  it('goes on at once when its owner enables it, and skips nothing', async () => {
    const { url, received } = await receiver(200);
    const { id, ids } = await waiting(url, 1);
    await worker('public').run(id);
    const meanwhile = await bench.happen(2);
    const { wallet } = await bench.webhook(id);
    expect(await registry().enable(wallet as Address, id)).toMatchObject({ status: 'active', suspendedAt: null });
    await worker('basic').run(id);
    expect(idsOf(received)).toEqual([...ids, ...meanwhile]);
  });

  it('can be ended by the operator, and what waits is cancelled then', async () => {
    const { url } = await receiver(200);
    const { id } = await waiting(url, 1);
    await worker('public').run(id);
    expect(await registry().disable(id, 'abuse')).toMatchObject({ status: 'disabled', disabledBy: 'operator' });
    await worker('basic').run(id);
    expect(await states(id)).toEqual(['CANCELLED']);
  });
});
