import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { composeEvents, composeWebhookDelivery, type DeliveryTiming } from '../../../src/app/events.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Context } from '../../../src/context.ts';
import { endWebhook, toWebhookMessage, type WebhookDeliveryDoc } from '../../../src/events/webhooks/queue.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createShutdown } from '../../../src/platform/shutdown.ts';
import { ForecastRecord } from '../../../src/record/forecasts.ts';
import { WagerBook } from '../../../src/wager/wagers.ts';
import { timeOf } from '../../support/clock/trusted-time.ts';
import { answering } from '../../support/webhooks/receiver.ts';
import { type WebhookBench, webhookBench } from '../../support/webhooks/webhook-bench.ts';
import { regimeDraft } from '../../support/webhooks/webhook-registry.ts';

let bench: WebhookBench;
const now = () => new Date();

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(async () => {
  await bench.drop();
});

/** A worker with jobs of its own, as the service starts it. */
async function startWorker(timing?: DeliveryTiming) {
  const log = createLog({ level: 'silent', secrets: [] });
  const shutdown = createShutdown({ log });
  const stop = () => shutdown.stop('the test is over');
  onTestFinished(async () => void (await stop()));
  const { db } = bench;
  const record = new ForecastRecord({ db, saltSecret: 'a secret', horizons: HORIZONS });
  const push = composeEvents({ db, log, now, record, shutdown, wagers: new WagerBook(db) } as unknown as Context);
  const config = loadConfig({ PUSH_LOCAL_TARGETS: 'allow' });
  const { view, tierOf } = bench.worker();
  const delivery = composeWebhookDelivery(
    { config, log, shutdown },
    {
      db,
      push,
      encryptionSecret: 'm'.repeat(32),
      view,
      tierOf,
      now,
      time: timeOf(now),
      resolve: async () => ['127.0.0.1'],
      ...(timing && { timing }),
    },
  );
  await delivery.start();
  return { stop };
}

/** A receiver that checks what it gets, and fails so many times first. */
async function receiver(secretOf: () => string, failures = 0) {
  const ids: number[] = [];
  let calls = 0;
  const server = await answering(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const { id } = new Webhook(secretOf()).verify(body, request.headers as Record<string, string>) as { id: number };
    calls += 1;
    if (calls > failures) ids.push(id);
    response.writeHead(calls > failures ? 200 : 500).end();
  });
  onTestFinished(server.close);
  return { url: `http://127.0.0.1:${server.port}/`, ids, calls: () => calls };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20);
}

it('two workers deliver 200 events to three endpoints once each, in order, and one goes on when the other leaves', async () => {
  const secrets: string[] = [];
  const receivers = await Promise.all([0, 1, 2].map((index) => receiver(() => secrets[index]!)));
  const hooks = await Promise.all(receivers.map(({ url }) => bench.addWebhook(url)));
  secrets.push(...hooks.map(({ secret }) => secret));
  const workers = await Promise.all([startWorker(), startWorker()]);

  const ids: number[] = [];
  const append = async (count: number) => {
    for (let n = 0; n < count; n++) {
      await bench.events.append([regimeDraft(`event ${ids.length}`, now())], now());
      ids.push(await bench.events.lastId());
    }
  };
  await append(150);
  await until(() => receivers.every((one) => one.ids.length === 150));
  await workers[0]!.stop();
  await append(50);
  await until(() => receivers.every((one) => one.ids.length === 200));
  for (const one of receivers) expect(one.ids).toEqual(ids);
  expect(receivers.map(({ calls }) => calls())).toEqual([200, 200, 200]);

  // What another process queues is found, too.
  const [first] = await bench.events.after(0, 1);
  await bench.queue.append(hooks[0]!.doc, [toWebhookMessage(first!, 'replay:x')], now());
  await until(() => receivers[0]!.ids.length === 201);
  expect(receivers[0]!.ids.at(-1)).toBe(first!._id);
  const head = async () => (await Promise.all(hooks.map(({ id }) => bench.head(id)))).filter((row) => row !== null);
  await until(async () => (await head()).length === 0);
  // It sends what no other process has sent.
  await endWebhook(bench.db, hooks[2]!.doc, { by: 'failures', reason: 'down', at: now(), failingSince: now() });
  await until(async () => (await bench.events.event(await bench.events.lastId()))!.type === 'webhook.disabled');
});

it('a worker is woken by what happens, and comes back by itself for what has failed', async () => {
  const secrets: string[] = [];
  const failing = await receiver(() => secrets[0]!, 1);
  const { id, secret } = await bench.addWebhook(failing.url);
  secrets.push(secret);
  // It looks for nothing by itself.
  const woken = await startWorker({ pollMs: 3_600_000 });
  const before = await bench.events.lastId();
  await bench.events.append([regimeDraft('once', now()), regimeDraft('twice', now())], now());
  await until(() => failing.calls() === 1);
  await woken.stop();
  await startWorker();
  await until(() => failing.ids.length === 2);
  expect(failing.ids).toEqual([before + 1, before + 2]);
  const [{ attempts }] = (await bench.rows(id)) as [WebhookDeliveryDoc];
  const [first, second] = attempts.map(({ at }) => at.getTime());
  expect(second! - first!).toBeGreaterThanOrEqual(5_000);
});

it('slow receivers of one wallet delay no other wallet, at their host or at others, and are called once each', async () => {
  const answers: (() => void)[] = [];
  const slow = await answering((_, response) => void answers.push(() => response.end()));
  onTestFinished(slow.close);
  // Two thirds at a host that others use, too, and each of the rest at its own.
  const urls = Array.from({ length: 18 }, (_, n) => `http://${n < 12 ? '127.0.0.1' : `host${n}.example`}:${slow.port}/${n}`);
  for (const [slot, url] of urls.entries()) await bench.addWebhook(url, { wallet: `0x${'a'.repeat(40)}`, slot });
  const secrets: string[] = [];
  const quick = await receiver(() => secrets[0]!);
  secrets.push((await bench.addWebhook(quick.url)).secret);
  await startWorker();
  const happen = (name: string) => bench.events.append([regimeDraft(name, now())], now());
  await happen('the first');
  // What a wallet has at once in a process.
  await until(() => answers.length === 4);
  const waits: number[] = [];
  for (let n = 1; n <= 4; n++) {
    const started = performance.now();
    await happen(`while others are slow ${n}`);
    await until(() => quick.ids.length === n + 1);
    waits.push(performance.now() - started);
  }
  expect(Math.max(...waits)).toBeLessThan(5_000);
  expect(answers).toHaveLength(4);
  for (const answer of answers) answer();
});
