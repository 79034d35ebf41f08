import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { composePush } from '../../../../src/compose/push.ts';
import { composeWebhookDelivery } from '../../../../src/compose/webhook-delivery.ts';
import { loadConfig } from '../../../../src/config.ts';
import { HORIZONS } from '../../../../src/forecast/model.ts';
import { createLog } from '../../../../src/log.ts';
import type { PipelineParts } from '../../../../src/pipeline/parts.ts';
import { JOBS, startSchedule } from '../../../../src/pipeline/schedule.ts';
import { messageOf } from '../../../../src/push/webhooks/message.ts';
import { ForecastRecord } from '../../../../src/record/record.ts';
import { createShutdown } from '../../../../src/shutdown.ts';
import { WagerBook } from '../../../../src/wager/wagers.ts';
import { answering } from '../../../support/receiver.ts';
import { type WebhookBench, webhookBench } from '../../../support/webhook-bench.ts';
import { regimeDraft } from '../../../support/webhook-registry.ts';

let bench: WebhookBench;
const stops: (() => Promise<unknown>)[] = [];
const now = () => new Date();

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await bench.drop();
});

/** A worker with jobs of its own, as the service starts it. */
async function startWorker() {
  const log = createLog({ level: 'silent', secrets: [] });
  const shutdown = createShutdown({ log });
  stops.push(() => shutdown.stop('the test is over'));
  const { db } = bench;
  const record = new ForecastRecord({ db, saltSecret: 'a secret', horizons: HORIZONS });
  const push = composePush({ log, shutdown }, { db, record, wagers: new WagerBook(db), now });
  const config = loadConfig({ PUSH_LOCAL_TARGETS: 'allow' });
  const { view, tierOf } = bench.worker();
  const delivery = composeWebhookDelivery({ config, log, shutdown }, { db, push, encryptionSecret: 'm'.repeat(32), view, tierOf, now });
  // The steps of the day have nothing to do here.
  const jobs = Object.fromEntries(Object.keys(JOBS).map((name) => [name, { cron: '0 0 1 1 *', run: async () => undefined }]));
  const schedule = await startSchedule({ db, parts: {} as PipelineParts, jobs, queues: delivery.queues, log, now });
  shutdown.onStop('jobs', () => schedule.drain(6_000));
  await delivery.start(schedule);
  return { push, stop: () => shutdown.stop('a worker leaves') };
}

/** A receiver that checks what it gets; its first call fails where it is told so. */
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

it('two workers deliver 200 events to three endpoints once each, in order, through failures, and to whoever is left', async () => {
  const secrets: string[] = [];
  const receivers = await Promise.all([0, 0, 1].map((failures, index) => receiver(() => secrets[index]!, failures)));
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
  await until(() => receivers.slice(0, 2).every((one) => one.ids.length === 150));
  await workers[0]!.stop();
  await append(50);
  await until(() => receivers.every((one) => one.ids.length === 200));
  for (const one of receivers) expect(one.ids).toEqual(ids);
  expect(receivers.map(({ calls }) => calls())).toEqual([200, 200, 201]);

  // What a process without jobs queues is found, too.
  const [first] = await bench.events.after(0, 1);
  await bench.queue.append(hooks[0]!.doc, [messageOf(first!, 'replay:x')], now());
  await until(() => receivers[0]!.ids.length === 201);
  expect(receivers[0]!.ids.at(-1)).toBe(first!._id);
  const head = async () => (await Promise.all(hooks.map(({ id }) => bench.queue.head(id)))).filter((row) => row !== null);
  await until(async () => (await head()).length === 0);
  const left = bench.db.collection('jobs').find({ name: 'webhook-delivery', failedAt: { $ne: null } });
  expect(await left.toArray()).toEqual([]);
});
