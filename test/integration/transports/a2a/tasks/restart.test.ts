import { once } from 'node:events';
import { join } from 'node:path';
import { TaskState } from '@a2a-js/sdk';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TASK_LEASE_MS } from '../../../../../src/a2a/tasks.ts';
import { DAY_MS } from '../../../../../src/forecast/day.ts';
import { idleFor, MARKET, message, rpcOf, streamOf } from '../../../../support/a2a/a2a-bench.ts';
import { a2aSuite } from '../../../../support/a2a/a2a-suite.ts';
import { spawnNode } from '../../../../support/service/service.ts';

const PROCESS = join(import.meta.dirname, '../../../../support/a2a/a2a-process.ts');

const suite = a2aSuite(() => tasks().deleteMany({}));
const { bench } = suite;
type Bench = Awaited<ReturnType<typeof bench>>;

const tasks = () => suite.database.db.collection<{ _id: string }>('a2a_tasks');
const stateOf = ({ body }: { body: { result?: { task?: { status: { state: string } }; status?: { state: string } } } }) =>
  (body.result?.task ?? body.result)?.status?.state;
const workedOn = (count = 1) => expect.poll(() => tasks().countDocuments({ state: TaskState.TASK_STATE_WORKING })).toBe(count);

const OPENING = async () => message(MARKET);
const FOLLOW_UP = async (at: Pick<Bench, 'rpc'>) => {
  const asked = await at.rpc('SendMessage', message({ text: 'hello' }));
  return message(MARKET, { taskId: asked.body.result.task.id });
};
const MESSAGES = [
  ['an opening message', OPENING],
  ['a follow-up', FOLLOW_UP],
] as const;

/** A running message that does not end by itself. */
async function underWay(dead: Bench, make: (typeof MESSAGES)[number][1] = OPENING, headers: Record<string, string> = {}) {
  const same = await make(dead);
  const { begun, release } = dead.hold();
  const lost = dead.rpc('SendMessage', same, headers);
  await begun;
  await workedOn();
  return { same, release, lost };
}

/** Last state of a stream. */
// biome-ignore lint/suspicious/noExplicitAny: events are what is tested
const endOf = (events: any[]) => (events.at(-1).statusUpdate ?? events.at(-1).task).status.state;

describe('after a process died', () => {
  test('between claim and task, the repeated message opens the task', async () => {
    const one = await bench();
    const same = message(MARKET);
    const { body } = await one.rpc('SendMessage', same);
    await tasks().deleteOne({ _id: body.result.task.id });
    const again = await one.rpc('SendMessage', same);
    expect(again.body.result.task).toMatchObject({ id: body.result.task.id, status: { state: 'TASK_STATE_COMPLETED' } });
  });

  test.each(MESSAGES)('during %s, the repeated message takes the task over, once', async (_, make) => {
    const [dead, one, two] = [await bench(), await bench(), await bench()];
    const { same, release, lost } = await underWay(dead, make);
    await idleFor(suite.database.db);
    const answers = await Promise.all([one.rpc('SendMessage', same), two.rpc('SendMessage', same)]);
    expect(answers.map(stateOf)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
    expect(one.runs() + two.runs()).toBe(1);
    release();
    // The former lease holder returns the result of the next one.
    expect((await lost).body.result.task.status).toEqual(answers[0].body.result.task.status);
  });

  test.each(MESSAGES)('during %s, a waiting request takes the task over, once', async (_, make) => {
    const [dead, one, two] = [await bench(), await bench(), await bench()];
    const { same, release, lost } = await underWay(dead, make);
    const waiting = one.rpc('SendMessage', same);
    const streaming = streamOf(two.url, 'SendStreamingMessage', same, { onEvent: ({ task }) => void (task && idleFor(suite.database.db)) });
    expect(stateOf(await waiting)).toBe('TASK_STATE_COMPLETED');
    const events = await streaming;
    expect(events[0].task.status.state).toBe('TASK_STATE_WORKING');
    expect(endOf(events)).toBe('TASK_STATE_COMPLETED');
    expect(one.runs() + two.runs()).toBe(1);
    release();
    await lost;
  });

  test.each(MESSAGES)('during a stream of %s, the repeated stream takes the task over', async (_, make) => {
    const [dead, one] = [await bench(), await bench()];
    const same = await make(dead);
    const { release } = dead.hold();
    const lost = streamOf(dead.url, 'SendStreamingMessage', same);
    await workedOn();
    await idleFor(suite.database.db);
    const events = await streamOf(one.url, 'SendStreamingMessage', same);
    expect(endOf(events)).toBe('TASK_STATE_COMPLETED');
    release();
    expect(endOf(await lost)).toBe('TASK_STATE_COMPLETED');
  });

  test.each(['GetTask', 'ListTasks'])('%s returns a retryable failure', async (method) => {
    const own = { 'X-Forwarded-For': `198.51.100.${method.length}`, Authorization: 'Bearer basic' };
    const [dead, one] = [await bench(), await bench()];
    const { same, release, lost } = await underWay(dead, OPENING, own);
    await idleFor(suite.database.db, TASK_LEASE_MS - 30_000);
    const { body } = await one.rpc('ListTasks', {}, own);
    expect(body.result.tasks[0].status.state).toBe('TASK_STATE_WORKING');
    await idleFor(suite.database.db, 30_000);
    const received = await one.rpc(method, { id: body.result.tasks[0].id }, own);
    const task = received.body.result.tasks?.[0] ?? received.body.result;
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{}, { data: { code: 'SHUTTING_DOWN', retryable: true } }] },
    });
    release();
    expect(stateOf(await lost)).toBe('TASK_STATE_FAILED');
    expect(stateOf(await one.rpc('SendMessage', same, own))).toBe('TASK_STATE_FAILED');
  });

  test('another message to its task is rejected and not stored', async () => {
    const [dead, one] = [await bench(), await bench()];
    const { release, lost } = await underWay(dead);
    await idleFor(suite.database.db);
    const [{ _id: taskId }] = await tasks().find().toArray();
    const before = await suite.database.db.collection('a2a_messages').countDocuments();
    const { body } = await one.rpc('SendMessage', message(MARKET, { taskId }));
    expect(body.error).toMatchObject({ code: -32004, data: [{ metadata: { code: 'CONFLICT' } }] });
    expect(await suite.database.db.collection('a2a_messages').countDocuments()).toBe(before);
    release();
    await lost;
  });

  test('a task in INPUT_REQUIRED continues in any process', async () => {
    const asked = await (await bench()).rpc('SendMessage', message({ text: 'verify your forecast' }));
    expect(asked.body.result.task).toMatchObject({
      status: { state: 'TASK_STATE_INPUT_REQUIRED' },
      metadata: { skill: 'verify_prediction' },
    });
    await idleFor(suite.database.db);
    const later = await bench();
    const { id, contextId } = asked.body.result.task;
    const done = await later.rpc('SendMessage', message({ text: '2026-01-05' }, { taskId: id, contextId }));
    expect(done.body.result.task).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(done.body.result.task.artifacts[0].parts[0].data.asked).toMatchObject({ date: '2026-01-05' });
    expect(done.body.result.task.history.map(({ role }: { role: string }) => role)).toEqual([
      'ROLE_USER',
      'ROLE_AGENT',
      'ROLE_USER',
      'ROLE_AGENT',
    ]);
  });

  test('by SIGKILL during two messages, another process runs both', async () => {
    const { child, ended } = spawnNode([PROCESS, suite.database.uri], {});
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = await Promise.race([once(child.stdout!, 'data'), ended.then(({ output }) => Promise.reject(new Error(output)))]);
    const dying = { rpc: rpcOf(String(line).trim()) };
    const all = await Promise.all(MESSAGES.map(([, make]) => make(dying)));
    const lost = all.map((same) => dying.rpc('SendMessage', same).catch(() => 'cut off'));
    await workedOn(all.length);
    child.kill('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
    expect(await Promise.all(lost)).toEqual(['cut off', 'cut off']);
    const one = await bench();
    const waiting = all.map((same) => one.rpc('SendMessage', same));
    expect(one.runs()).toBe(0);
    await idleFor(suite.database.db);
    expect((await Promise.all(waiting)).map(stateOf)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
    expect(one.runs()).toBe(all.length);
  });
});

describe('processes with clock skew', () => {
  const ahead = { now: () => new Date(Date.now() + DAY_MS) };
  const behind = { now: () => new Date(Date.now() - DAY_MS) };

  test('leave tasks of other live processes alone', async () => {
    const [live, early, late] = [await bench(), await bench(ahead), await bench(behind)];
    const { same, release, lost } = await underWay(live);
    for (const other of [early, late]) {
      const [{ _id: id }] = await tasks().find().toArray();
      expect(stateOf(await other.rpc('GetTask', { id }))).toBe('TASK_STATE_WORKING');
      const again = await other.rpc('SendMessage', { ...same, configuration: { returnImmediately: true } });
      expect(stateOf(again)).toBe('TASK_STATE_WORKING');
    }
    release();
    expect(stateOf(await lost)).toBe('TASK_STATE_COMPLETED');
    expect(early.runs() + late.runs()).toBe(0);
  });

  test.each([
    ['ahead', ahead, behind],
    ['behind', behind, ahead],
  ])('take over a task of a dead process whose clock is %s', async (_, deadClock, clock) => {
    const [dead, one] = [await bench(deadClock), await bench(clock)];
    const { same, release, lost } = await underWay(dead);
    await idleFor(suite.database.db);
    expect(stateOf(await one.rpc('SendMessage', same))).toBe('TASK_STATE_COMPLETED');
    release();
    await lost;
  });
});

test('a former lease holder changes nothing in the run of the next, and waits for its end', async () => {
  const answering = (by: string) => async () => ({ output: { by }, text: by });
  const [slow, one] = [await bench({ runSkill: answering('slow') }), await bench({ runSkill: answering('one') })];
  const same = message(MARKET);
  const { release } = slow.hold();
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const lost = streamOf(slow.url, 'SendStreamingMessage', same, {
    onEvent: ({ artifactUpdate }) => void (artifactUpdate && resolve()),
  }).finally(() => {
    isOver = true;
  });
  await workedOn();
  await idleFor(suite.database.db);
  const { begun, release: releaseOne } = one.hold();
  const taken = one.rpc('SendMessage', same);
  await begun;
  release();
  await answered;
  const [{ _id: id }] = await tasks().find().toArray();
  const { result: working } = (await one.rpc('GetTask', { id })).body;
  expect(working).toMatchObject({ status: { state: 'TASK_STATE_WORKING' } });
  expect(working.artifacts ?? []).toEqual([]);
  expect(isOver).toBe(false);
  releaseOne();
  expect((await taken).body.result.task).toMatchObject({
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ parts: [{ data: { by: 'one' } }, {}] }],
  });
  expect(endOf(await lost)).toBe('TASK_STATE_COMPLETED');
});

test('a former lease holder waits for the end of the run of the next', async () => {
  const [slow, one] = [await bench(), await bench()];
  const { same, release, lost } = await underWay(slow);
  await idleFor(suite.database.db);
  const { begun, release: releaseOne } = one.hold();
  const taken = one.rpc('SendMessage', same);
  await begun;
  release();
  // By now its own run has ended.
  for (let asked = 0; asked < 10; asked++) await slow.rpc('GetTask', { id: 'unknown' });
  releaseOne();
  expect((await lost).body.result.task).toEqual((await taken).body.result.task);
});

describe('cancelling', () => {
  test('from another process ends a stream with CANCELED', async () => {
    const [one, two] = [await bench(), await bench()];
    const { release } = one.hold();
    const streaming = streamOf(one.url, 'SendStreamingMessage', message(MARKET));
    await workedOn();
    const [{ _id: id }] = await tasks().find().toArray();
    expect(stateOf(await two.rpc('CancelTask', { id }))).toBe('TASK_STATE_CANCELED');
    release();
    expect(endOf(await streaming)).toBe('TASK_STATE_CANCELED');
  });

  test.each([0, 1])('at the moment of completion, at process %i, gives one final state to all', async (canceller) => {
    const both = [await bench(), await bench()];
    for (let round = 0; round < 10; round++) {
      const own = { 'X-Forwarded-For': `203.0.113.${round}` };
      const { same, release, lost } = await underWay(both[0], OPENING, own);
      const [{ _id: id }] = await tasks()
        .find({ owner: `address:203.0.113.${round}` })
        .toArray();
      const cancelling = both[canceller].rpc('CancelTask', { id }, own);
      // Each round cancels at another moment.
      for (let asked = 0; asked < round % 4; asked++) await both[1].rpc('GetTask', { id }, own);
      release();
      const [sent, cancelled] = await Promise.all([lost, cancelling]);
      const stored = (await both[1].rpc('GetTask', { id }, own)).body.result;
      expect(sent.body.result.task).toEqual(stored);
      if (cancelled.body.error === undefined) expect(cancelled.body.result).toEqual(stored);
      else expect([cancelled.body.error.code, stored.status.state]).toEqual([-32002, 'TASK_STATE_COMPLETED']);
      if (stored.status.state === 'TASK_STATE_COMPLETED') expect(stored.artifacts).toHaveLength(1);
      expect(stateOf(await both[1].rpc('SendMessage', same, own))).toBe(stored.status.state);
    }
  });
});
