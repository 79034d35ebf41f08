import { TaskState } from '@a2a-js/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LEASE_MS } from '../../../src/a2a/task-store.ts';
import { type A2aBench, a2aBench, type BenchOptions, MARKET, message, rpcOf } from '../../support/a2a-bench.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
const benches: A2aBench[] = [];

beforeAll(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  for (const bench of benches.splice(0)) {
    bench.stop();
    await bench.a2a.drain();
    await bench.close();
  }
});
afterAll(() => database?.drop());

async function bench(options: Partial<BenchOptions> = {}) {
  const started = await a2aBench({ db: database.db, ...options });
  benches.push(started);
  return { ...started, rpc: rpcOf(started.url) };
}

const tasks = () => database.db.collection('a2a_tasks');
const stateOf = ({ body }: { body: { result?: { task?: { status: { state: string } }; status?: { state: string } } } }) =>
  (body.result?.task ?? body.result)?.status?.state;
const BASIC = { Authorization: 'Bearer basic' };

describe('a message that comes again', () => {
  test('twenty at once, at two processes: one task, one run, one answer', async () => {
    const [one, two] = [await bench(), await bench()];
    const before = await tasks().countDocuments();
    const same = message(MARKET);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? one : two).rpc('SendMessage', same)));
    expect(new Set(answers.map(({ body }) => body.result.task.id)).size).toBe(1);
    expect(answers.map(stateOf)).toEqual(Array(20).fill('TASK_STATE_COMPLETED'));
    expect(one.runs() + two.runs()).toBe(1);
    expect(await tasks().countDocuments()).toBe(before + 1);
  });

  test('later, and at a process that started since', async () => {
    const same = message(MARKET);
    const first = await (await bench()).rpc('SendMessage', same);
    const later = await bench();
    const again = await later.rpc('SendMessage', same);
    expect(again.body.result.task).toEqual(first.body.result.task);
    expect(later.runs()).toBe(0);
  });

  test('while it is carried out: it waits for the same end', async () => {
    const [one, two] = [await bench(), await bench()];
    const { release, begun } = one.hold();
    const same = message(MARKET);
    const first = one.rpc('SendMessage', same);
    await begun;
    const second = two.rpc('SendMessage', same);
    const now = await two.rpc('SendMessage', { ...same, configuration: { returnImmediately: true } });
    expect(stateOf(now)).toBe('TASK_STATE_WORKING');
    release();
    expect([stateOf(await first), stateOf(await second)]).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
    expect(two.runs()).toBe(0);
  });

  test('with something else in it: refused in the words of the protocol, and nothing is carried out', async () => {
    const one = await bench();
    const { message: first } = message(MARKET);
    await one.rpc('SendMessage', { message: first });
    const { body } = await one.rpc('SendMessage', { message: { ...first, parts: [{ text: 'bitcoin price' }] } });
    expect(body.error).toMatchObject({ code: -32602, data: [{ metadata: { code: 'CONFLICT', field: 'message.messageId' } }] });
    expect(one.runs()).toBe(1);
  });

  test('from somebody else it is another message', async () => {
    const one = await bench();
    const same = message(MARKET);
    const ids = [];
    const callers: Record<string, string>[] = [BASIC, { Authorization: 'Bearer basic-2' }, {}, { 'X-Forwarded-For': '203.0.113.9' }];
    for (const headers of callers) {
      ids.push((await one.rpc('SendMessage', same, headers)).body.result.task.id);
    }
    expect(new Set(ids).size).toBe(4);
  });

  test('as a stream of what is over', async () => {
    const one = await bench();
    const same = message(MARKET);
    const { body } = await one.rpc('SendMessage', same);
    const events = await stream(one.url, 'SendStreamingMessage', same);
    expect(events).toEqual([{ task: body.result.task }]);
  });
});

describe('a process that ends', () => {
  const first = { value: 0 };
  const clock = () => new Date(Date.UTC(2026, 0, 5, 12) + first.value);

  test('between the claim of a message and its task: the message again opens it', async () => {
    const one = await bench();
    const same = message(MARKET);
    const { body } = await one.rpc('SendMessage', same);
    await tasks().deleteOne({ _id: body.result.task.id });
    const again = await one.rpc('SendMessage', same);
    expect(again.body.result.task).toMatchObject({ id: body.result.task.id, status: { state: 'TASK_STATE_COMPLETED' } });
  });

  test('in mid-run: the message again takes it up, once', async () => {
    const [dead, one, two] = [await bench({ now: clock }), await bench({ now: clock }), await bench({ now: clock })];
    const { begun, release } = dead.hold();
    const same = message(MARKET);
    const lost = dead.rpc('SendMessage', same);
    await begun;
    await expect.poll(() => tasks().countDocuments({ state: TaskState.TASK_STATE_WORKING })).toBe(1);
    first.value += LEASE_MS;
    const answers = await Promise.all([one.rpc('SendMessage', same), two.rpc('SendMessage', same)]);
    expect(answers.map(stateOf)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
    expect(one.runs() + two.runs()).toBe(1);
    release();
    // The one that was thought dead tells what the others made of it.
    expect((await lost).body.result.task.status).toEqual(answers[0].body.result.task.status);
  });

  test.each(['GetTask', 'ListTasks'])('in mid-run: %s tells that it failed, and that trying again may help', async (method) => {
    const own = { 'X-Forwarded-For': `198.51.100.${method.length}` };
    const [dead, one] = [await bench({ now: clock }), await bench({ now: clock })];
    const { begun, release } = dead.hold();
    const lost = dead.rpc('SendMessage', message(MARKET), own);
    await begun;
    await expect.poll(() => tasks().countDocuments({ state: TaskState.TASK_STATE_WORKING })).toBe(1);
    const { body } = await one.rpc('ListTasks', {}, own);
    expect(body.result.tasks[0].status.state).toBe('TASK_STATE_WORKING');
    first.value += LEASE_MS;
    const told = await one.rpc(method, { id: body.result.tasks[0].id }, own);
    const task = told.body.result.tasks?.[0] ?? told.body.result;
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{}, { data: { code: 'SHUTTING_DOWN', retryable: true } }] },
    });
    release();
    expect(stateOf(await lost)).toBe('TASK_STATE_FAILED');
  });

  test('a task that waits for a message waits for whichever process comes', async () => {
    const asked = await (await bench()).rpc('SendMessage', message({ text: 'verify your forecast' }));
    expect(asked.body.result.task).toMatchObject({
      status: { state: 'TASK_STATE_INPUT_REQUIRED' },
      metadata: { skill: 'verify_prediction' },
    });
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
});

describe('a further message', () => {
  async function waiting(one: Awaited<ReturnType<typeof bench>>): Promise<string> {
    return (await one.rpc('SendMessage', message({ text: 'hello' }))).body.result.task.id;
  }

  test('ten different ones at once, at two processes: one is taken, the others are told', async () => {
    const [one, two] = [await bench(), await bench()];
    const taskId = await waiting(one);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? one : two).rpc('SendMessage', message(MARKET, { taskId }))),
    );
    const taken = answers.filter(({ body }) => body.error === undefined);
    expect(taken.map(stateOf)).toEqual(['TASK_STATE_COMPLETED']);
    const refused = answers.flatMap(({ body }) => body.error ?? []);
    expect(refused.map(({ code, data }) => [code, data[0].metadata.code])).toEqual(Array(9).fill([-32004, 'CONFLICT']));
    expect(one.runs() + two.runs()).toBe(1);
  });

  test('the same one again belongs to the same task, also when the agent asks on', async () => {
    const one = await bench();
    const taskId = await waiting(one);
    const unclear = message({ text: 'well' }, { taskId });
    const first = await one.rpc('SendMessage', unclear);
    expect(stateOf(first)).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await one.rpc('SendMessage', unclear)).body.result.task).toEqual(first.body.result.task);
    const clear = message(MARKET, { taskId });
    const done = await one.rpc('SendMessage', clear);
    expect((await one.rpc('SendMessage', clear)).body.result.task).toEqual(done.body.result.task);
    expect(one.runs()).toBe(1);
  });

  test('is refused for a task that is over, of another context, of somebody else, or nowhere; nothing is kept', async () => {
    const one = await bench();
    const over = (await one.rpc('SendMessage', message(MARKET))).body.result.task.id;
    const open = await waiting(one);
    const before = await database.db.collection('a2a_messages').countDocuments();
    const refusals = await Promise.all([
      one.rpc('SendMessage', message(MARKET, { taskId: over })),
      one.rpc('SendMessage', message(MARKET, { taskId: open, contextId: 'another' })),
      one.rpc('SendMessage', message(MARKET, { taskId: open }), BASIC),
      one.rpc('SendMessage', message(MARKET, { taskId: crypto.randomUUID() })),
      one.rpc('SendMessage', message({ data: { skill: 'nope' } }, { taskId: open })),
    ]);
    expect(refusals.map(({ body }) => body.error.code)).toEqual([-32004, -32602, -32001, -32001, -32602]);
    expect(refusals[2].body.error).toEqual(refusals[3].body.error);
    expect(await database.db.collection('a2a_messages').countDocuments()).toBe(before);
  });
});

describe('cancelling', () => {
  test('while it is carried out, here and from another process', async () => {
    for (const canceller of [0, 1]) {
      const both = [await bench(), await bench()];
      const { begun, release } = both[0].hold();
      const sent = await both[0].rpc('SendMessage', { ...message(MARKET), configuration: { returnImmediately: true } });
      await begun;
      const { id } = sent.body.result.task;
      const cancelled = await both[canceller].rpc('CancelTask', { id });
      expect(stateOf(cancelled)).toBe('TASK_STATE_CANCELED');
      release();
      await both[0].a2a.drain();
      const { body } = await both[1].rpc('GetTask', { id });
      expect(body.result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
      expect(body.result.artifacts ?? []).toEqual([]);
    }
  });

  test('twice, or after the end: the error of the protocol with our code', async () => {
    const one = await bench();
    const { id } = (await one.rpc('SendMessage', message({ text: 'hello' }))).body.result.task;
    expect(stateOf(await one.rpc('CancelTask', { id }))).toBe('TASK_STATE_CANCELED');
    const over = (await one.rpc('SendMessage', message(MARKET))).body.result.task.id;
    for (const task of [id, over]) {
      const { body } = await one.rpc('CancelTask', { id: task });
      expect(body.error).toMatchObject({
        code: -32002,
        data: [{ reason: 'TASK_NOT_CANCELABLE', metadata: { code: 'CONFLICT', retryable: 'false', suggestedAction: expect.any(String) } }],
      });
    }
  });
});

describe('following', () => {
  test('a task of another process, to its end', async () => {
    const [one, two] = [await bench(), await bench()];
    const { begun, release } = one.hold();
    const sent = await one.rpc('SendMessage', { ...message(MARKET), configuration: { returnImmediately: true } });
    await begun;
    const following = stream(two.url, 'SubscribeToTask', { id: sent.body.result.task.id }, release);
    expect((await following).map((event) => Object.keys(event)[0])).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
    expect((await following).at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('ends with the service, and is refused for what is over', async () => {
    const one = await bench();
    const { id } = (await one.rpc('SendMessage', message({ text: 'hello' }))).body.result.task;
    const events = await stream(one.url, 'SubscribeToTask', { id }, () => one.stop());
    expect(events.map(({ task }) => task.status.state)).toEqual(['TASK_STATE_INPUT_REQUIRED']);
    await one.rpc('CancelTask', { id });
    expect((await one.rpc('SubscribeToTask', { id })).body.error).toMatchObject({
      code: -32004,
      data: [{ metadata: { code: 'CONFLICT' } }],
    });
  });

  test('streams the task, its work, its artifact and its end', async () => {
    const one = await bench();
    const events = await stream(one.url, 'SendStreamingMessage', message(MARKET));
    expect(events.map((event) => event.statusUpdate?.status.state ?? Object.keys(event)[0])).toEqual([
      ...['task', 'TASK_STATE_WORKING', 'artifactUpdate', 'TASK_STATE_COMPLETED'],
    ]);
  });
});

/** All events of a stream. @param onFirst called when the first one is there */
async function stream(url: string, method: string, params: unknown, onFirst?: () => void) {
  const answer = await fetch(`${url}/a2a`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });
  expect(answer.headers.get('Content-Type')).toMatch(/^text\/event-stream/);
  let text = '';
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    if (text === '') onFirst?.();
    text += chunk;
  }
  // biome-ignore lint/suspicious/noExplicitAny: events are what is tested
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, event]) => JSON.parse(event).result as any);
}
