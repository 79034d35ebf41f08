import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { MAX_TASKS } from '../../../../src/a2a/tasks.ts';
import { MARKET, message, streamOf } from '../../../support/a2a/a2a-bench.ts';
import { a2aSuite } from '../../../support/a2a/a2a-suite.ts';

const suite = a2aSuite();
const { bench } = suite;

const tasks = () => suite.database.db.collection<{ _id: string; owner: string }>('a2a_tasks');
const stateOf = ({ body }: { body: { result?: { task?: { status: { state: string } }; status?: { state: string } } } }) =>
  (body.result?.task ?? body.result)?.status?.state;
const BASIC = { Authorization: 'Bearer basic' };

describe('a repeated message', () => {
  test('runs once when twenty copies arrive at two processes', async () => {
    const [one, two] = [await bench(), await bench()];
    const before = await tasks().countDocuments();
    const same = message(MARKET);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? one : two).rpc('SendMessage', same)));
    expect(new Set(answers.map(({ body }) => body.result.task.id)).size).toBe(1);
    expect(answers.map(stateOf)).toEqual(Array(20).fill('TASK_STATE_COMPLETED'));
    expect(one.runs() + two.runs()).toBe(1);
    expect(await tasks().countDocuments()).toBe(before + 1);
  });

  test('returns the task later, also from a new process', async () => {
    const same = message(MARKET);
    const first = await (await bench()).rpc('SendMessage', same);
    const later = await bench();
    const again = await later.rpc('SendMessage', same);
    expect(again.body.result.task).toEqual(first.body.result.task);
    expect(later.runs()).toBe(0);
  });

  test('waits for the same end while it runs', async () => {
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

  test('with other content is rejected and not run', async () => {
    const one = await bench();
    const { message: first } = message(MARKET);
    await one.rpc('SendMessage', { message: first });
    const { body } = await one.rpc('SendMessage', { message: { ...first, parts: [{ text: 'bitcoin price' }] } });
    expect(body.error).toMatchObject({ code: -32602, data: [{ metadata: { code: 'CONFLICT', field: 'message.messageId' } }] });
    expect(one.runs()).toBe(1);
  });

  test('of another owner is another message', async () => {
    const one = await bench();
    const same = message(MARKET);
    const ids = [];
    const callers: Record<string, string>[] = [BASIC, { Authorization: 'Bearer basic-2' }, {}, { 'X-Forwarded-For': '203.0.113.9' }];
    for (const headers of callers) {
      ids.push((await one.rpc('SendMessage', same, headers)).body.result.task.id);
    }
    expect(new Set(ids).size).toBe(4);
  });

  test('evicts nothing, not even its own task', async () => {
    const one = await bench();
    const own = { 'X-Forwarded-For': '203.0.113.200' };
    const same = message(MARKET);
    const { body } = await one.rpc('SendMessage', same, own);
    const oldest = await tasks().findOne({ _id: body.result.task.id });
    const others = Array.from({ length: MAX_TASKS.address - 1 }, () => ({ ...oldest, _id: crypto.randomUUID(), createdAt: new Date() }));
    await tasks().insertMany(others as never);
    const again = await Promise.all([one.rpc('SendMessage', same, own), one.rpc('SendMessage', same, own)]);
    expect(again.map((answer) => answer.body.result.task)).toEqual([body.result.task, body.result.task]);
    expect(one.runs()).toBe(1);
    expect(await tasks().countDocuments({ owner: oldest!.owner })).toBe(MAX_TASKS.address);
  });

  test('streams an ended task', async () => {
    const one = await bench();
    const same = message(MARKET);
    const { body } = await one.rpc('SendMessage', same);
    const events = await streamOf(one.url, 'SendStreamingMessage', same);
    expect(events).toEqual([{ task: body.result.task }]);
  });
});

describe('a further message', () => {
  async function waiting(one: Awaited<ReturnType<typeof bench>>): Promise<string> {
    return (await one.rpc('SendMessage', message({ text: 'hello' }))).body.result.task.id;
  }

  test('is accepted once when ten arrive at two processes, and the others are rejected', async () => {
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

  test('belongs to the same task when repeated, also after another question', async () => {
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

  test('is rejected for an ended, foreign or missing task and for another context, and not stored', async () => {
    const one = await bench();
    const over = (await one.rpc('SendMessage', message(MARKET))).body.result.task.id;
    const open = await waiting(one);
    const before = await suite.database.db.collection('a2a_messages').countDocuments();
    const refusals = await Promise.all([
      one.rpc('SendMessage', message(MARKET, { taskId: over })),
      one.rpc('SendMessage', message(MARKET, { taskId: open, contextId: 'another' })),
      one.rpc('SendMessage', message(MARKET, { taskId: open }), BASIC),
      one.rpc('SendMessage', message(MARKET, { taskId: crypto.randomUUID() })),
      one.rpc('SendMessage', message({ data: { skill: 'nope' } }, { taskId: open })),
    ]);
    expect(refusals.map(({ body }) => body.error.code)).toEqual([-32004, -32602, -32001, -32001, -32602]);
    expect(refusals[2].body.error).toEqual(refusals[3].body.error);
    expect(await suite.database.db.collection('a2a_messages').countDocuments()).toBe(before);
  });
});

describe('cancelling', () => {
  test('works during a run, from the same and from another process', async () => {
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

  test('returns the protocol error with our code when repeated or too late', async () => {
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
  test('works for a task of another process, to its end', async () => {
    const [one, two] = [await bench(), await bench()];
    const { begun, release } = one.hold();
    const sent = await one.rpc('SendMessage', { ...message(MARKET), configuration: { returnImmediately: true } });
    await begun;
    await expect.poll(async () => stateOf(await two.rpc('GetTask', { id: sent.body.result.task.id }))).toBe('TASK_STATE_WORKING');
    const following = streamOf(two.url, 'SubscribeToTask', { id: sent.body.result.task.id }, { onEvent: release });
    expect((await following).map((event) => Object.keys(event)[0])).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
    expect((await following).at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test.each(['/a2a', '/a2a/rest'])('goes on while a task waits for input, until its end: %s', async (path) => {
    const [one, two] = [await bench(), await bench()];
    const { id } = (await one.rpc('SendMessage', message({ text: 'good morning' }))).body.result.task;
    const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SubscribeToTask', params: { id } });
    const where = path === '/a2a' ? path : `${path}/tasks/${id}:subscribe`;
    const answer = await fetch(two.url + where, { method: 'POST', headers, ...(path === '/a2a' ? { body } : {}) });
    let text = '';
    let isOver = false;
    const reading = (async () => {
      for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) text += chunk;
      isOver = true;
    })();
    await expect.poll(() => text).toContain('TASK_STATE_INPUT_REQUIRED');
    await delay(500);
    expect(isOver).toBe(false);
    await one.rpc('SendMessage', message({ text: 'hm' }, { taskId: id }));
    await delay(1_500);
    expect(isOver).toBe(false);
    await one.rpc('SendMessage', message({ text: 'the bitcoin price' }, { taskId: id }));
    await reading;
    const states = [...text.matchAll(/"state":"(\w+)"/g)].map(([, state]) => state);
    expect([states[0], states.at(-1)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED']);
    expect(text).toContain('artifactUpdate');
  });

  test('ends at shutdown, and is rejected for an ended task', async () => {
    const one = await bench();
    const other = await bench();
    const { begun } = other.hold();
    const { id } = (await other.rpc('SendMessage', { ...message(MARKET), configuration: { returnImmediately: true } })).body.result.task;
    await begun;
    await expect.poll(async () => stateOf(await one.rpc('GetTask', { id }))).toBe('TASK_STATE_WORKING');
    const events = await streamOf(one.url, 'SubscribeToTask', { id }, { onEvent: () => one.stop() });
    expect(events.map(({ task }) => task.status.state)).toEqual(['TASK_STATE_WORKING']);
    await one.rpc('CancelTask', { id });
    expect((await one.rpc('SubscribeToTask', { id })).body.error).toMatchObject({
      code: -32004,
      data: [{ metadata: { code: 'CONFLICT' } }],
    });
  });

  test('streams the task, WORKING, the artifact and the final state', async () => {
    const one = await bench();
    const events = await streamOf(one.url, 'SendStreamingMessage', message(MARKET));
    expect(events.map((event) => event.statusUpdate?.status.state ?? Object.keys(event)[0])).toEqual([
      ...['task', 'TASK_STATE_WORKING', 'artifactUpdate', 'TASK_STATE_COMPLETED'],
    ]);
  });
});
