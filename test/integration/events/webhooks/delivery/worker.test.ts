import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { startWebhookWorker, type WebhookWorkerDeps } from '../../../../../src/events/webhooks/queue.ts';
import { answering, startReceiver } from '../../../../support/webhooks/receiver.ts';
import { type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';

let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());
beforeEach(async () => {
  await bench.webhooks.deleteMany({});
  await bench.deliveries.deleteMany({});
});

/** A worker that looks when it is woken. */
function working(more: Partial<WebhookWorkerDeps> = {}) {
  const stop = new AbortController();
  let rounds = 0;
  const publish = async () => {
    rounds += 1;
    return more.publish?.();
  };
  const { wake, ended } = startWebhookWorker(bench.worker({ pollMs: 3_600_000, stopping: stop.signal, ...more, publish }));
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  const round = async () => {
    const before = rounds;
    wake();
    await until(() => rounds === before + 1);
    // The next one begins when this one is over.
    wake();
    await until(() => rounds === before + 2);
  };
  return { stop, ended, wake, round };
}

async function receiver(status = 200) {
  const started = await startReceiver(status);
  onTestFinished(started.close);
  return started;
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(setImmediate);
};

it('continues the round when a part fails, and logs the failure once until it recovers', async () => {
  const { url, until: received } = await receiver();
  await bench.addWebhook(url);
  await bench.happen(1);
  let broken = true;
  const publish = async () => {
    if (broken) throw new Error('no publishing now');
  };
  const { round } = working({ publish });
  await received(1);
  const failures = () => bench.lines.filter((line) => line.includes('no publishing now')).length;
  await round();
  await round();
  expect(failures()).toBe(1);
  broken = false;
  await round();
  broken = true;
  await round();
  await round();
  expect(failures()).toBe(2);
});

it('sends what is due, and nothing that is due later', async () => {
  const { url, received, until: calls } = await receiver(500);
  const { id } = await bench.addWebhook(url);
  const { round } = working();
  await bench.happen(1);
  await round();
  await calls(1);
  await expect.poll(async () => (await bench.head(id))?.attempts.length).toBe(1);
  await round();
  expect(received).toHaveLength(1);
  bench.pass(6_000);
  await round();
  await calls(2);
});

it('has at most 16 calls in flight, and sends the rest as they end', async () => {
  const answers: (() => void)[] = [];
  const slow = await answering((_, response) => void answers.push(() => response.end()));
  onTestFinished(slow.close);
  for (let n = 0; n < 20; n++) await bench.addWebhook(`http://host${n}.example:${slow.port}/`);
  const { round } = working();
  await bench.happen(1);
  await round();
  await until(() => answers.length === 16);
  await round();
  expect(answers).toHaveLength(16);
  for (let n = 0; n < 20; n++) {
    await until(() => answers.length > n);
    answers[n]!();
  }
});

it('sends nothing while the clocks disagree', async () => {
  const { url, received, until: calls } = await receiver();
  await bench.addWebhook(url);
  let disagreement: string | null = 'two minutes';
  const { round } = working({ time: { findDisagreement: async () => disagreement } });
  await bench.happen(1);
  await round();
  await round();
  expect(received).toEqual([]);
  disagreement = null;
  await round();
  await calls(1);
});

it('begins nothing more when the process stops, and ends after the calls in flight', async () => {
  const answers: (() => void)[] = [];
  const slow = await answering((_, response) => void answers.push(() => response.end()));
  onTestFinished(slow.close);
  const { id } = await bench.addWebhook(`http://127.0.0.1:${slow.port}/`);
  const { stop, ended, wake } = working();
  await bench.happen(2);
  wake();
  await until(() => answers.length === 1);
  stop.abort();
  answers[0]!();
  await ended;
  expect((await bench.rows(id)).map(({ state }) => state)).toEqual(['DELIVERED', 'PENDING']);
  expect(answers).toHaveLength(1);
});
