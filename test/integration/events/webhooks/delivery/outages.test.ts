import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { deliverDue, fanOutEvents, RETRY_DELAYS_MS, RETRY_JITTER } from '../../../../../src/events/webhooks/queue.ts';
import { MINUTE_MS } from '../../../../../src/forecast/day.ts';
import { answering } from '../../../../support/webhooks/receiver.ts';
import { verified, type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';

const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());
afterEach(() => bench.webhooks.deleteMany({}));

interface Call {
  id: number;
  at: Date;
  status: number;
}

/** A receiver that is down until a time of the simulated clock. */
async function downUntil(up: () => Date) {
  const calls: Call[] = [];
  const took: { body: string; headers: NodeJS.Dict<string | string[]>; at: Date }[] = [];
  const server = await answering(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const at = bench.clock.now;
    const status = at < up() ? 503 : 200;
    calls.push({ id: (JSON.parse(body) as { id: number }).id, at, status });
    if (status === 200) took.push({ body, headers: request.headers, at });
    response.writeHead(status).end();
  });
  onTestFinished(server.close);
  return { url: `http://127.0.0.1:${server.port}/`, calls, took };
}

/** What a worker does until a time, which passes from one thing that is due to the next. */
async function workUntil(end: Date): Promise<void> {
  const worker = bench.worker({ random: Math.random });
  for (;;) {
    await worker.publish();
    await fanOutEvents(worker);
    await deliverDue(worker);
    const next = await bench.deliveries.findOne({ nextAttemptAt: { $lte: end } }, { sort: { nextAttemptAt: 1 } });
    bench.clock.now = next?.nextAttemptAt ?? end;
    if (next === null) return;
  }
}

const later = (ms: number) => new Date(bench.clock.now.getTime() + ms);

describe('a receiver that is down', () => {
  it('for an hour gets everything afterwards, in order, at the next step of the standard', async () => {
    const began = bench.clock.now;
    const up = later(HOUR_MS);
    const { url, calls, took } = await downUntil(() => up);
    const { id, secret } = await bench.addWebhook(url);
    const healthy = await downUntil(() => began);
    await bench.addWebhook(healthy.url);
    const ids: number[] = [];
    for (let tenMinutes = 0; tenMinutes < 12; tenMinutes++) {
      ids.push(...(await bench.happen(5)));
      await workUntil(later(10 * MINUTE_MS));
    }
    await workUntil(later(12 * HOUR_MS));

    // All attempts of the hour were for the first message; the others waited behind it.
    const failed = calls.filter(({ status }) => status === 503);
    expect(new Set(failed.map((call) => call.id))).toEqual(new Set([ids[0]]));
    const times = [...failed, calls[failed.length]!].map(({ at }) => at.getTime());
    expect(times[0]).toBe(began.getTime());
    times.slice(1).forEach((at, index) => {
      const pause = at - times[index]!;
      expect(pause).toBeGreaterThanOrEqual(RETRY_DELAYS_MS[index]!);
      expect(pause).toBeLessThanOrEqual(RETRY_DELAYS_MS[index]! * (1 + RETRY_JITTER));
    });
    // 0, 5 s, 5 min and 35 min lie within the hour whatever the jitter; the next one is two hours later.
    expect(failed).toHaveLength(4);
    expect(took.map((call) => verified(call, secret, call.at).id)).toEqual(ids);
    expect(new Set(took.map(({ headers }) => headers['webhook-id'])).size).toBe(60);
    expect(await bench.webhook(id)).toMatchObject({ status: 'active', failingSince: null });
    // No other webhook was delayed.
    expect(healthy.calls.filter(({ at }) => at <= up).length).toBeGreaterThanOrEqual(30);
    expect(healthy.took.map((call) => (JSON.parse(call.body) as { id: number }).id)).toEqual(ids);
  });

  it('for five days is disabled, with pending messages cancelled and the owner notified; after enabling it receives new events', async () => {
    const began = bench.clock.now;
    const { url, calls, took } = await downUntil(() => new Date(began.getTime() + 20 * DAY_MS));
    const owners = await downUntil(() => began);
    const { id, doc } = await bench.addWebhook(url);
    await bench.addWebhook(owners.url, { wallet: doc.wallet, slot: 1, events: ['webhook.disabled'] });
    const ids: number[] = [];
    for (let day = 0; day < 9; day++) {
      ids.push(...(await bench.happen(2)));
      await workUntil(later(DAY_MS));
    }
    const ended = await bench.webhook(id);
    expect(ended).toMatchObject({ status: 'disabled', disabledBy: 'failures', failingSince: began });
    expect(ended.disabledReason).toContain('HTTP 503');
    const days = (ended.disabledAt!.getTime() - began.getTime()) / DAY_MS;
    expect(days).toBeGreaterThanOrEqual(5);
    expect(days).toBeLessThan(6.5);
    expect(calls.at(-1)!.at).toEqual(ended.disabledAt);
    // Ten attempts on the first message, then it was the second one's turn.
    expect(calls.filter((call) => call.id === ids[0])).toHaveLength(10);
    const states = (await bench.rows(id)).map(({ state }) => state);
    expect(states[0]).toBe('FAILED');
    expect(new Set(states.slice(1))).toEqual(new Set(['CANCELLED']));

    expect(owners.took).toHaveLength(1);
    expect(JSON.parse(owners.took[0]!.body)).toMatchObject({
      type: 'webhook.disabled',
      timestamp: ended.disabledAt!.toISOString(),
      data: { webhookId: id, url: `${new URL(url).origin}/***`, reason: ended.disabledReason, failingSince: began.toISOString() },
    });

    const enabled = { status: 'active', disabledAt: null, disabledReason: null, disabledBy: null, failingSince: null } as const;
    await bench.webhooks.updateOne({ _id: id }, { $set: { ...enabled, queuedThrough: await bench.events.lastId() } });
    await workUntil(later(15 * DAY_MS));
    const fresh = await bench.happen(2);
    await workUntil(later(HOUR_MS));
    expect(took.map(({ body }) => (JSON.parse(body) as { id: number }).id)).toEqual(fresh);
  });
});
