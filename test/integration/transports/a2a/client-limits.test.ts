import type { TaskState } from '@a2a-js/sdk';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PUSH_CONFIG_INDEXES, TaskPush } from '../../../../src/a2a/push.ts';
import { MAX_STREAMS } from '../../../../src/a2a/server.ts';
import { HISTORY_LIMITS } from '../../../../src/a2a/tasks.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { createSecretBox } from '../../../../src/platform/secrets.ts';
import { createShutdown } from '../../../../src/platform/shutdown.ts';
import { MARKET, message } from '../../../support/a2a/a2a-bench.ts';
import { a2aSuite } from '../../../support/a2a/a2a-suite.ts';

const suite = a2aSuite();
const { bench } = suite;

beforeAll(() => ensureIndexes(suite.database.db, PUSH_CONFIG_INDEXES));

const BASIC = { Authorization: 'Bearer basic' };
const FROM = (address: string) => ({ 'X-Forwarded-For': address });
const notFound = { error: { code: -32001 } };
const waiting = async ({ rpc }: Awaited<ReturnType<typeof bench>>, headers: Record<string, string> = {}): Promise<string> =>
  (await rpc('SendMessage', message({ text: 'hello' }), headers)).body.result.task.id;

describe('a browser page', () => {
  const here = FROM('203.0.113.20');
  const page = { ...here, Origin: 'https://evil.example' };

  test('is an owner apart from programs and other pages at its address', async () => {
    const one = await bench();
    const id = await waiting(one, here);
    for (const headers of [page, { ...page, Origin: 'null' }, { ...page, Origin: '' }]) {
      expect((await one.rpc('GetTask', { id }, headers)).body).toMatchObject(notFound);
      expect((await one.rpc('CancelTask', { id }, headers)).body).toMatchObject(notFound);
      expect((await one.rpc('SubscribeToTask', { id }, headers)).body).toMatchObject(notFound);
      expect((await one.rpc('ListTaskPushNotificationConfigs', { taskId: id }, headers)).body).toMatchObject(notFound);
      expect((await one.rpc('ListTasks', {}, headers)).body.result).toMatchObject({ totalSize: 0 });
    }
    const theirs = await waiting(one, page);
    expect((await one.rpc('GetTask', { id: theirs }, page)).body.result).toMatchObject({ id: theirs });
    for (const headers of [here, { ...page, Origin: 'https://other.example' }]) {
      expect((await one.rpc('GetTask', { id: theirs }, headers)).body).toMatchObject(notFound);
    }
    expect((await one.rpc('GetTask', { id }, here)).body.result).toMatchObject({ id });
    expect((await one.rpc('ListTasks', {}, here)).body.result).toMatchObject({ totalSize: 0 });
    const overRest = await fetch(`${one.url}/a2a/rest/tasks/${id}`, { headers: { ...page, 'A2A-Version': '1.0' } });
    expect(overRest.status).toBe(404);
  });

  test('is its wallet when it has a token', async () => {
    const one = await bench();
    const id = await waiting(one, BASIC);
    expect((await one.rpc('GetTask', { id }, { ...page, ...BASIC })).body.result).toMatchObject({ id });
  });
});

describe('streams', () => {
  /** Open streams by response status; `end` closes them. */
  function streams(url: string, id: string) {
    const aborting = new AbortController();
    const open = (headers: Record<string, string>) =>
      fetch(`${url}/a2a`, {
        method: 'POST',
        signal: aborting.signal,
        headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SubscribeToTask', params: { id } }),
      });
    return { open, end: () => aborting.abort() };
  }

  test('are limited per client, and accepted again after some have ended', async () => {
    const one = await bench();
    const here = FROM('203.0.113.30');
    const { begun, release } = one.hold();
    onTestFinished(release);
    const sent = await one.rpc('SendMessage', { ...message(MARKET), configuration: { returnImmediately: true } }, here);
    const { id } = sent.body.result.task;
    await begun;
    const { open, end } = streams(one.url, id);
    for (let count = 0; count < MAX_STREAMS.perClient; count++) {
      expect((await open(here)).headers.get('Content-Type')).toMatch(/^text\/event-stream/);
    }
    const refused = await one.rpc('SubscribeToTask', { id }, here);
    expect(refused.body.error).toMatchObject({
      code: -32600,
      data: [{ reason: 'RATE_LIMITED', metadata: { retryAfterSeconds: expect.any(String), suggestedAction: expect.stringMatching(/\w/) } }],
    });
    const before = one.runs();
    expect((await one.rpc('SendStreamingMessage', message(MARKET), here)).body.error.data[0].reason).toBe('RATE_LIMITED');
    expect(one.runs()).toBe(before);
    const rest = await fetch(`${one.url}/a2a/rest/tasks/${id}:subscribe`, { method: 'POST', headers: { 'A2A-Version': '1.0', ...here } });
    expect([rest.status, await rest.text()]).toEqual([429, expect.stringContaining('RATE_LIMITED')]);
    expect((await one.rpc('SubscribeToTask', { id }, FROM('203.0.113.31'))).body).toMatchObject(notFound);
    end();
    await expect.poll(async () => (await streams(one.url, id).open(here)).headers.get('Content-Type')).toMatch(/^text\/event-stream/);
  });
});

describe('a large task', () => {
  test('of many messages keeps the newest and continues', async () => {
    const one = await bench();
    const here = FROM('203.0.113.40');
    const headers = { ...here };
    const id = await waiting(one, here);
    const large = () => message({ text: 'x'.repeat(3_900) }, { taskId: id, metadata: { m: 'y'.repeat(2_000) } });
    for (let count = 0; count < 14; count++) await one.rpc('SendMessage', large(), headers);
    const { body } = await one.rpc('GetTask', { id }, headers);
    const { history } = body.result;
    expect(Buffer.byteLength(JSON.stringify(history))).toBeLessThan(HISTORY_LIMITS.bytes * 1.1);
    expect(history.length).toBeGreaterThan(5);
    expect(body.result.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const done = await one.rpc('SendMessage', message(MARKET, { taskId: id }), headers);
    expect(done.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test.each([
    ['an input of a skill that the caller may not have', { data: { skill: 'predict_btc_direction', input: { x: 'A'.repeat(60_000) } } }],
    ['characters that are six as JSON', { text: '\u0001'.repeat(1_000) }],
  ])('is rejected without being stored: %s', async (_what, part) => {
    const one = await bench();
    const before = await suite.database.db.collection('a2a_tasks').countDocuments();
    const { body } = await one.rpc('SendMessage', message(part));
    expect(body.error.data[0].metadata).toMatchObject({ code: 'INPUT_INVALID', field: 'message.parts' });
    expect(await suite.database.db.collection('a2a_tasks').countDocuments()).toBe(before);
  });
});

describe('callbacks', () => {
  function pushTo(allowLocal: boolean) {
    const log = createLog({ level: 'silent', secrets: [] });
    const rules = { allowLocal, resolve: async () => ['93.184.215.14'] };
    const parts = { db: suite.database.db, secretBox: createSecretBox('x'.repeat(40)), now: () => new Date(), log };
    return new TaskPush({ ...parts, rules, shutdown: createShutdown({ log }) });
  }
  const config = { url: 'https://hooks.example.com/', token: 'secret-token', authentication: { scheme: 'Bearer', credentials: 'secret' } };
  const errorInfo = {
    reason: 'UNAUTHENTICATED',
    metadata: { field: 'Authorization', suggestedAction: expect.stringContaining('/verify') },
  };

  test('require a token, so that anonymous clients cannot direct requests at third parties', async () => {
    const one = await bench({ push: pushTo(false) });
    const [id, before] = [await waiting(one), await suite.database.db.collection('a2a_tasks').countDocuments()];
    const created = await one.rpc('CreateTaskPushNotificationConfig', { taskId: id, ...config });
    expect(created.body.error).toMatchObject({ code: -32600, data: [errorInfo] });
    const older = { taskId: id, pushNotificationConfig: config };
    const set = await one.rpc('tasks/pushNotificationConfig/set', older, { 'A2A-Version': '0.3' });
    expect(set.body.error).toMatchObject({ code: -32600, data: [errorInfo] });
    const sent = await one.rpc('SendMessage', { ...message(MARKET), configuration: { taskPushNotificationConfig: config } });
    expect(sent.body.error).toMatchObject({ code: -32600, data: [errorInfo] });
    const rest = await fetch(`${one.url}/a2a/rest/tasks/${id}/pushNotificationConfigs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify(config),
    });
    expect([rest.status, await rest.json()]).toMatchObject([401, { error: { status: 'UNAUTHENTICATED', details: [errorInfo] } }]);
    expect(await suite.database.db.collection('a2a_tasks').countDocuments()).toBe(before);
    expect((await one.rpc('ListTaskPushNotificationConfigs', { taskId: id })).body.result.configs ?? []).toEqual([]);
  });

  test('are accepted with a token, and their secrets are returned only once', async () => {
    const one = await bench({ push: pushTo(false) });
    const id = await waiting(one, BASIC);
    const created = await one.rpc('CreateTaskPushNotificationConfig', { taskId: id, ...config }, BASIC);
    expect(created.body.result).toMatchObject(config);
    const asked = { taskId: id, id: created.body.result.id };
    for (const [method, params] of [
      ['GetTaskPushNotificationConfig', asked],
      ['ListTaskPushNotificationConfigs', asked],
    ] as const) {
      const { body } = await one.rpc(method, params, BASIC);
      expect(JSON.stringify(body)).toContain('hooks.example.com');
      expect(JSON.stringify(body)).not.toContain('secret');
    }
    const older = await one.rpc('tasks/pushNotificationConfig/list', { id }, { ...BASIC, 'A2A-Version': '0.3' });
    expect(JSON.stringify(older.body)).toMatch(/^(?!.*secret).*hooks\.example\.com/);
  });

  test('are accepted from anonymous clients where local targets are allowed', async () => {
    const one = await bench({ push: pushTo(true) });
    const created = await one.rpc('CreateTaskPushNotificationConfig', { taskId: await waiting(one), url: 'http://127.0.0.1:9/' });
    expect(created.body.result).toMatchObject({ url: 'http://127.0.0.1:9/' });
  });

  test.each([
    ['authentication', { authentication: 'x' }],
    ['token', { token: { a: 1 } }],
  ])('are rejected when %s is not a string', async (field, wrong) => {
    const one = await bench({ push: pushTo(false) });
    const taskId = await waiting(one, BASIC);
    const body = { taskId, url: config.url, ...wrong };
    const refusal = { code: 'INPUT_INVALID', field };
    const created = await one.rpc('CreateTaskPushNotificationConfig', body, BASIC);
    expect(created.body.error).toMatchObject({ code: -32602, data: [{ metadata: refusal }] });
    const older = await one.rpc(
      'tasks/pushNotificationConfig/set',
      { taskId, pushNotificationConfig: body },
      { ...BASIC, 'A2A-Version': '0.3' },
    );
    expect(older.body.error).toMatchObject({ code: -32602, data: [{ metadata: refusal }] });
    const rest = await fetch(`${one.url}/a2a/rest/tasks/${taskId}/pushNotificationConfigs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...BASIC },
      body: JSON.stringify(body),
    });
    expect([rest.status, JSON.stringify(await rest.json())]).toEqual([400, expect.stringContaining(`"field":"${field}"`)]);
  });

  test('end with an evicted task', async () => {
    const push = pushTo(false);
    const one = await bench({ push });
    const id = await waiting(one, { Authorization: 'Bearer basic-2' });
    await one.rpc('CreateTaskPushNotificationConfig', { taskId: id, ...config }, { Authorization: 'Bearer basic-2' });
    await one.rpc('CancelTask', { id }, { Authorization: 'Bearer basic-2' });
    const configs = () => suite.database.db.collection('a2a_push_configs').countDocuments({ taskId: id });
    expect(await configs()).toBe(1);
    const tasks = suite.database.db.collection<{ _id: string; countedAs: string; createdAt: Date; state: TaskState }>('a2a_tasks');
    const doc = (await tasks.findOne({ _id: id }))!;
    const younger = { ...doc, createdAt: new Date(doc.createdAt.getTime() + 1) };
    await tasks.insertMany(Array.from({ length: 1_999 }, () => ({ ...younger, _id: crypto.randomUUID() })));
    const next = await waiting(one, { Authorization: 'Bearer basic-2' });
    expect(next).not.toBe(id);
    expect([await configs(), await tasks.countDocuments({ countedAs: doc.countedAs })]).toEqual([0, 2_000]);
    expect((await one.rpc('GetTask', { id }, { Authorization: 'Bearer basic-2' })).body).toMatchObject(notFound);
  });
});
