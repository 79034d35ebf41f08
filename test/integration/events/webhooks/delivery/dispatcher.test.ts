import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { createWebhookDispatcher, type DeliveryTurn, type WebhookDispatcherDeps } from '../../../../../src/events/webhooks/sender.ts';
import { type WebhookBench, webhookBench } from '../../../../support/webhooks/webhook-bench.ts';

let bench: WebhookBench;

beforeAll(async () => {
  bench = await webhookBench();
});
afterAll(() => bench.drop());
beforeEach(async () => {
  await bench.webhooks.deleteMany({});
  await bench.db.collection('webhook_deliveries').deleteMany({});
});

/** A dispatcher that looks when it is woken, and queues into a list. */
function dispatching(more: Partial<WebhookDispatcherDeps> = {}) {
  const stop = new AbortController();
  const turns: string[] = [];
  const parts = bench.worker({ pollMs: 3_600_000, overdueMs: 3_600_000, ...more });
  const dispatcher = createWebhookDispatcher(parts);
  const { wake, ended } = dispatcher.start(async ({ subject }: DeliveryTurn) => void turns.push(subject), stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  return { dispatcher, turns, wake };
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(setImmediate);
};
const turn = (subject: string) => ({ subject, at: bench.clock.now });

it('continues the round when a part fails, and logs the failure once until it recovers', async () => {
  const { id } = await bench.addWebhook('https://hooks.example.com/');
  await bench.happen(1);
  let [rounds, broken] = [0, true];
  const publish = async () => {
    rounds += 1;
    if (broken) throw new Error('no publishing now');
  };
  const { turns, wake } = dispatching({ publish });
  await until(() => turns.length === 1);
  expect(turns).toEqual([id]);
  const failures = () => bench.lines.filter((line) => line.includes('no publishing now')).length;
  const round = async () => {
    const before = rounds;
    wake();
    await until(() => rounds === before + 1);
  };
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

it('queues once more what is due when a turn is out of the queue, and nothing that is due later', async () => {
  const { id } = await bench.addWebhook('https://hooks.example.com/');
  const { dispatcher, turns, wake } = dispatching();
  const { queue, clock } = bench;
  await dispatcher.ended(turn(id));
  expect(turns).toEqual([]);
  await bench.happen(1);
  wake();
  await until(() => turns.length === 1);
  await dispatcher.ended(turn(id));
  expect(turns).toEqual([id, id]);
  await queue.postpone((await queue.findHead(id))!, new Date(clock.now.getTime() + 1_000));
  await dispatcher.ended(turn(id));
  expect(turns).toHaveLength(2);
  bench.pass(1_000);
  await dispatcher.ended(turn(id));
  expect(turns).toHaveLength(3);
});

it('queues nothing more when the process stops', async () => {
  const stopping = new AbortController();
  const turns: DeliveryTurn[] = [];
  const dispatcher = createWebhookDispatcher(bench.worker({ stopping: stopping.signal }));
  const { ended } = dispatcher.start(async (queued) => void turns.push(queued), AbortSignal.abort());
  await ended;
  const { doc } = await bench.addWebhook('https://hooks.example.com/');
  const message = { eventId: 1, cause: 'live', type: 'regime.changed', messageId: 'evt_1' } as const;
  await bench.queue.append(doc, [message], bench.clock.now);
  await dispatcher.ended(turn(doc._id));
  expect(turns).toHaveLength(1);
  stopping.abort();
  await dispatcher.ended(turn(doc._id));
  expect(turns).toHaveLength(1);
});

it('queues what is overdue again, and before that only once', async () => {
  const { id } = await bench.addWebhook('https://hooks.example.com/');
  let rounds = 0;
  const { turns, wake } = dispatching({ overdueMs: 5_000, publish: async () => (rounds += 1) });
  await bench.happen(1);
  wake();
  const mine = () => turns.filter((subject) => subject === id).length;
  await until(() => mine() === 1);
  const round = async () => {
    const before = rounds;
    wake();
    await until(() => rounds === before + 1);
    // The next one begins when this one is over.
    wake();
    await until(() => rounds === before + 2);
  };
  bench.pass(4_999);
  await round();
  expect(mine()).toBe(1);
  bench.pass(1);
  await round();
  expect(mine()).toBe(2);
});
