import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EXTENSION_URIS } from '../../../../../agent-card/card.ts';
import { createPaidCalls, type PaidCalls, type RunSkill } from '../../../../../skills/runner.ts';
import { unpackTask } from '../../../../../src/a2a/tasks.ts';
import type { SalesService } from '../../../../../src/commerce/x402/sales.ts';
import { OracleError } from '../../../../../src/errors.ts';
import { idleFor, message } from '../../../../support/a2a/a2a-bench.ts';
import { a2aSuite, type SuiteBench } from '../../../../support/a2a/a2a-suite.ts';
import { type TestChain, testChain } from '../../../../support/chain/chain.ts';
import { signPayment, type TillBench, tillBench } from '../../../../support/commerce/x402.ts';

const PREDICT = { data: { skill: 'predict_btc_direction', input: { horizon: '7d' } } };
const PAYS = { 'A2A-Extensions': EXTENSION_URIS.x402 };

const suite = a2aSuite(() => tasks().deleteMany({}));
const tasks = () => suite.database.db.collection<{ _id: string; task: string }>('a2a_tasks');
let chain: TestChain;
let till: TillBench;
let before: bigint;
/** Number of skill runs. */
let made = 0;
let letGo: () => void = () => undefined;

beforeAll(async () => {
  chain = await testChain();
  till = await tillBench({ chain, db: suite.database.db, connected: await chain.connect() });
});
afterAll(() => chain?.stop());
beforeEach(async () => {
  made = 0;
  before = await balance();
});
// Before the benches close, because closing waits for running tasks.
afterEach(() => letGo());

const balance = () => till.balance(till.merchant.payee);
const earned = async () => (await balance()) - before;
/** Simulates a claim holder that died long ago. */
const forgetHolders = () => suite.database.db.collection('x402_payments').updateMany({}, { $set: { heldUntil: new Date(1) } });

const answer: RunSkill = async () => {
  made += 1;
  const window = { windowOpensAt: '2026-01-02T00:00:00.000Z', resolvesAt: '2026-01-09T00:00:00.000Z' };
  const facts = { predictionId: '2026-01-01:7d', attestationUid: null, skill: { verdict: 'none' }, source: 'a test' };
  const output = { signal: 'BUY', made, ...facts, ...window };
  return { output, text: '' };
};
const sold = (sales: SalesService, runSkill = answer) =>
  createPaidCalls({ sales, runSkill, toUrl: (path) => `https://oracle.example.org${path}` });

/** Never resolves: simulates a process that dies at this point. */
function dying() {
  const [begun, freed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  letGo = freed.resolve;
  const die = async () => {
    begun.resolve();
    await freed.promise;
    throw new OracleError('SHUTTING_DOWN', 'dead');
  };
  return { begun: begun.promise, die };
}

async function billed(at: SuiteBench) {
  const { body } = await at.rpc('SendMessage', message(PREDICT), PAYS);
  return body.result.task;
}

async function payment(task: { status: { message: { metadata: Record<string, { accepts: never[] }> } } }) {
  const { accepts } = task.status.message.metadata['bitcoin-signal-oracle/payment-required']!;
  return signPayment({ account: till.buyer, requirements: accepts[0]! });
}

const submitted = (payload: unknown) => ({ 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload });
const paying = (taskId: string, payload: unknown) => message({ text: 'Here.' }, { taskId, metadata: submitted(payload) });
/** Last write of the dying process to a task. */
const verified = (taskId: string) =>
  expect
    .poll(async () => JSON.stringify(unpackTask((await tasks().findOne({ _id: taskId })) ?? { task: '' })))
    .toContain('"x402.payment.status":"payment-verified"');

const DEATHS: [string, (die: () => Promise<never>) => PaidCalls, { madeAgain: boolean }][] = [
  ['while it makes the answer', (die) => sold(till.sales, die), { madeAgain: true }],
  [
    'between the settlement and the end of the task',
    (die) => {
      const calls = sold(till.sales);
      return { ...calls, sell: async (call) => calls.sell(call).then(die) };
    },
    { madeAgain: false },
  ],
];

describe.each(DEATHS)('after the process died %s', (_, dead, { madeAgain }) => {
  async function lostTask() {
    const { begun, die } = dying();
    const dies = await suite.bench({ paidCalls: dead(die) });
    const task = await billed(dies);
    const payload = await payment(task);
    const same = paying(task.id, payload);
    const lost = dies.rpc('SendMessage', same, PAYS);
    await begun;
    await verified(task.id);
    await forgetHolders();
    await idleFor(suite.database.db);
    return { task, payload, same, lost };
  }

  test('the repeated message at two processes gives one answer, paid once', async () => {
    const { task, same, lost } = await lostTask();
    const [one, two] = [await suite.bench({ paidCalls: sold(till.sales) }), await suite.bench({ paidCalls: sold(await till.another()) })];
    const answers = await Promise.all([one.rpc('SendMessage', same, PAYS), two.rpc('SendMessage', same, PAYS)]);
    for (const { body } of answers) {
      expect(body.result.task).toMatchObject({
        id: task.id,
        status: { state: 'TASK_STATE_COMPLETED', message: { metadata: { 'x402.payment.receipts': [{ success: true }] } } },
        artifacts: [{ parts: [{ data: { signal: 'BUY', made: 1 } }, {}] }],
      });
    }
    expect([made, await earned()]).toEqual([1, 1_000n]);
    letGo();
    expect((await lost).body.result.task).toEqual(answers[0]!.body.result.task);
    expect([made, await earned()]).toEqual([1, 1_000n]);
  });

  test('readers see the failure, and a new task with the same payment gives the answer, paid once', async () => {
    const { task, payload, lost } = await lostTask();
    const one = await suite.bench({ paidCalls: sold(till.sales) });
    const { body } = await one.rpc('GetTask', { id: task.id });
    expect(body.result.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{ text: expect.stringContaining('not charged twice') }, { data: { code: 'SHUTTING_DOWN' } }] },
    });
    expect(made).toBe(madeAgain ? 0 : 1);
    const again = await one.rpc('SendMessage', message(PREDICT, { metadata: submitted(payload) }), PAYS);
    expect(again.body.result.task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ data: { made: 1 } }, {}] }],
    });
    expect([made, await earned()]).toEqual([1, 1_000n]);
    letGo();
    await lost;
  });
});

test('a task that awaits payment continues in any process', async () => {
  const task = await billed(await suite.bench({ paidCalls: sold(till.sales) }));
  const later = await suite.bench({ paidCalls: sold(await till.another()) });
  const done = await later.rpc('SendMessage', paying(task.id, await payment(task)), PAYS);
  expect(done.body.result.task).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
  expect([made, await earned()]).toEqual([1, 1_000n]);
});

test('an unconfirmed payment is requested again unchanged, and charged once', async () => {
  const slow = {
    ...till.facilitator,
    async settle(...asked: Parameters<typeof till.facilitator.settle>): Promise<never> {
      await till.facilitator.settle(...asked);
      throw new OracleError('TRANSACTION_UNCONFIRMED', 'Not yet', { retryAfterSeconds: 5 });
    },
  };
  const one = await suite.bench({ paidCalls: sold(await till.another({ facilitator: slow })) });
  const task = await billed(one);
  const payload = await payment(task);
  const waiting = await one.rpc('SendMessage', paying(task.id, payload), PAYS);
  expect(waiting.body.result.task.status).toMatchObject({
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: {
      metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.error': 'TRANSACTION_UNCONFIRMED' },
      parts: [{ text: expect.stringContaining('Send the same payment') }, { data: { retryable: true, retryAfterSeconds: 5 } }],
    },
  });
  const done = await one.rpc('SendMessage', paying(task.id, payload), PAYS);
  expect(done.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
  expect([made, await earned()]).toEqual([1, 1_000n]);
});

test.each([
  ['fails for good', new OracleError('CHAIN_REVERTED', 'No'), 'TASK_STATE_FAILED', 'payment-failed'],
  ['cannot be had yet', new OracleError('STEP_WAITING', 'Not yet'), 'TASK_STATE_INPUT_REQUIRED', 'payment-submitted'],
  ['fails for a reason of ours', new Error('a secret of ours'), 'TASK_STATE_INPUT_REQUIRED', 'payment-submitted'],
])('an answer that %s is not charged', async (_, error, state, status) => {
  const lines: string[] = [];
  const failing = sold(till.sales, () => Promise.reject(error));
  const one = await suite.bench({ paidCalls: failing, lines });
  const task = await billed(one);
  const { body } = await one.rpc('SendMessage', paying(task.id, await payment(task)), PAYS);
  expect(body.result.task.status).toMatchObject({ state, message: { metadata: { 'x402.payment.status': status } } });
  expect(JSON.stringify(body)).not.toContain('a secret');
  expect(lines.some((line) => line.includes('a secret'))).toBe(!(error instanceof OracleError));
  expect(await earned()).toBe(0n);
});
