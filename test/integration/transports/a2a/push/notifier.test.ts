import { type StreamResponse, type Task, type TaskPushNotificationConfig, TaskState } from '@a2a-js/sdk';
import { ServerCallContext } from '@a2a-js/sdk/server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  MAX_NOTIFICATION_BYTES,
  MAX_PENDING,
  MAX_PUSH_CONFIGS_PER_TASK,
  PUSH_CONFIG_INDEXES,
  TaskPush,
  type TaskPushOptions,
} from '../../../../../src/a2a/push.ts';
import { buildTaskStatus } from '../../../../../src/a2a/tasks.ts';
import { purgeExpired } from '../../../../../src/app/retention.ts';
import { DAY_MS } from '../../../../../src/forecast/day.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { POSTS_PER_MINUTE } from '../../../../../src/platform/outbound/host-limits.ts';
import { createSecretBox } from '../../../../../src/platform/secrets.ts';
import { createShutdown } from '../../../../../src/platform/shutdown.ts';
import { inEntry, parseTraceparent } from '../../../../../src/platform/tracing.ts';
import { messageOf, textPart } from '../../../../support/agent-clients/a2a.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { ALICE, alice, bob, pushConfig as config, contextOf, newTaskId } from '../../../../support/events/push-config.ts';
import { answering, startReceiver } from '../../../../support/webhooks/receiver.ts';

const SECRET = 'x'.repeat(40);
const NOON = new Date('2026-03-01T12:00:00Z');
const silent = createLog({ level: 'silent', secrets: [] });

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, PUSH_CONFIG_INDEXES);
});
afterAll(() => database.drop());

/** The notifier with store, receivers and log. */
function push(more: Partial<TaskPushOptions> = {}) {
  const lines: string[] = [];
  const shutdown = createShutdown({ log: silent });
  onTestFinished(async () => void (await shutdown.stop('the test is over')));
  const log = createLog({ level: 'warn', secrets: [], write: (line) => void lines.push(line) });
  const rules = { allowLocal: true, resolve: async () => ['127.0.0.1'] };
  const common = { db: database.db, secretBox: createSecretBox(SECRET), now: () => NOON, backoffMs: [0, 0] as const };
  const callbacks = new TaskPush({ ...common, rules, log, shutdown, ...more });
  return { callbacks, shutdown, lines, log };
}

async function receiver(...statuses: [number, ...number[]]) {
  const started = await startReceiver(...statuses);
  onTestFinished(started.close);
  return started;
}

function taskOf(id: string, state: TaskState): Task {
  const contextId = 'c';
  const status = buildTaskStatus({ taskId: id, contextId, state, at: NOON, parts: [textPart('said')] });
  return { id, contextId, status, artifacts: [], history: [], metadata: undefined };
}

function statusEvent(taskId: string, state: TaskState): StreamResponse {
  const { contextId, status } = taskOf(taskId, state);
  return { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata: undefined } } };
}

const { TASK_STATE_SUBMITTED: SUBMITTED, TASK_STATE_WORKING: WORKING, TASK_STATE_COMPLETED: COMPLETED } = TaskState;
const statesOf = (received: readonly { body: string }[]) =>
  received.map(({ body }) => JSON.parse(body)).map((body) => (body.statusUpdate ?? body.task ?? body).status.state);

describe('a registration', () => {
  it.each<[string, Partial<TaskPushNotificationConfig>]>([
    ['url', { url: '' }],
    ['url', { url: 'http://hooks.example.com/' }],
    ['url', { url: 'https://127.0.0.1/' }],
    ['url', { url: 'https://localhost/' }],
    ['url', { url: 'https://user:pass@hooks.example.com/' }],
    ['id', { id: 'a b' }],
    ['id', { id: 'x'.repeat(129) }],
    ['token', { token: 'a\r\nX-Evil: 1' }],
    ['token', { token: 'grüße' }],
    ['token', { token: ' padded ' }],
    ['token', { token: 'x'.repeat(4_097) }],
    ['authentication.scheme', { authentication: { scheme: 'Bearer x', credentials: 'y' } }],
    ['authentication.scheme', { authentication: { scheme: '', credentials: 'y' } }],
    ['authentication.scheme', { authentication: { scheme: 'x'.repeat(65), credentials: 'y' } }],
    ['authentication.credentials', { authentication: { scheme: 'Bearer', credentials: 'y\nz' } }],
    ['authentication.credentials', { authentication: { scheme: 'Bearer', credentials: 'x'.repeat(4_097) } }],
  ])('is refused for its %s: %j', async (field, wrong) => {
    const { callbacks } = push({ rules: { allowLocal: false, resolve: async () => ['93.184.215.14'] } });
    await expect(callbacks.check(config(wrong), alice)).rejects.toMatchObject({ code: 'INPUT_INVALID', field });
  });

  it('returns UNAUTHENTICATED without a token unless local targets are allowed', async () => {
    const resolve = vi.fn(async () => ['93.184.215.14']);
    const { callbacks } = push({ rules: { allowLocal: false, resolve } });
    for (const one of [config(), config({ url: '', token: 'a\nb' })]) {
      await expect(callbacks.check(one, contextOf(null))).rejects.toMatchObject({ code: 'UNAUTHENTICATED', field: 'Authorization' });
    }
    expect(resolve).not.toHaveBeenCalled();
    await callbacks.check(config(), alice);
    await push().callbacks.check(config(), contextOf(null));
  });

  it('returns CONFLICT when the task has five others', async () => {
    const [{ callbacks }, taskId] = [push(), newTaskId()];
    for (let n = 0; n < MAX_PUSH_CONFIGS_PER_TASK; n++) await callbacks.save(taskId, alice, config({ id: `id-${n}` }));
    await callbacks.check(config({ taskId, id: 'id-4' }), alice);
    await callbacks.check(config({ taskId, id: 'id-5' }), bob);
    await expect(callbacks.check(config({ taskId, id: 'id-5' }), alice)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('accepts the maximum lengths and an unresolvable name', async () => {
    const { callbacks } = push({ rules: { allowLocal: false, resolve: async () => [] } });
    await callbacks.check(
      config({ id: '', token: 'a b', authentication: { scheme: 'Bearer', credentials: `e.y.${'J'.repeat(3_000)}` } }),
      alice,
    );
    await callbacks.check(config({ authentication: { scheme: 'Basic', credentials: '' } }), alice);
  });
});

describe('an event of a task', () => {
  it('is delivered in order, with the registered credentials', async () => {
    const [{ callbacks }, taskId, { url, received }] = [push(), newTaskId(), await receiver(200)];
    await callbacks.save(
      taskId,
      alice,
      config({ url: `${url}/in?k=v`, token: 'tok', authentication: { scheme: 'Bearer', credentials: 'cred' } }),
    );
    const task = taskOf(taskId, SUBMITTED);
    const sent = [
      callbacks.send({ payload: { $case: 'task', value: task } }, alice, task),
      ...[WORKING, COMPLETED].map((state) => callbacks.send(statusEvent(taskId, state), alice, task)),
    ];
    await Promise.all(sent);
    expect(statesOf(received)).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(received[0]).toMatchObject({ method: 'POST', path: '/in?k=v' });
    expect(received[0]!.headers).toMatchObject({
      'content-type': 'application/a2a+json',
      authorization: 'Bearer cred',
      'x-a2a-notification-token': 'tok',
    });
  });

  it('is delivered in the protocol version of the registration, as it was then', async () => {
    const [{ callbacks }, taskId] = [push(), newTaskId()];
    const [older, newer] = [await receiver(200), await receiver(200)];
    await callbacks.save(taskId, contextOf(ALICE, '0.3'), config({ url: older.url }));
    await callbacks.save(taskId, alice, config({ id: 'two', url: newer.url }));
    const task = taskOf(taskId, WORKING);
    const sent = callbacks.send(statusEvent(taskId, WORKING), alice, task);
    task.status = taskOf(taskId, COMPLETED).status;
    await sent;
    expect(JSON.parse(older.received[0]!.body)).toMatchObject({ kind: 'task', id: taskId, status: { state: 'working' } });
    expect(older.received[0]!.headers['content-type']).toBe('application/json');
    expect(JSON.parse(newer.received[0]!.body)).toMatchObject({ statusUpdate: { taskId, status: { state: 'TASK_STATE_WORKING' } } });
    expect(newer.received[0]!.headers).not.toHaveProperty('authorization');
  });

  it('carries the trace of the request that has caused it, and none of another', async () => {
    const [{ callbacks }, taskId, { url, received }] = [push(), newTaskId(), await receiver(200)];
    await callbacks.save(taskId, alice, config({ url }));
    const traceIds = ['a'.repeat(32), 'b'.repeat(32)];
    const sent = traceIds.map((traceId) =>
      inEntry({ name: 'POST', parent: { traceId, spanId: 'c'.repeat(16), isSampled: true }, fields: {} }, () =>
        callbacks.send(statusEvent(taskId, WORKING), alice),
      ),
    );
    await Promise.all(sent);
    expect(received.map(({ headers }) => parseTraceparent(headers.traceparent)?.traceId)).toEqual(traceIds);
  });

  it('is not delivered to other owners, other tasks or deleted callbacks', async () => {
    const [{ callbacks }, taskId, { url, received }] = [push(), newTaskId(), await receiver(200)];
    await callbacks.save(taskId, bob, config({ url }));
    await callbacks.save(newTaskId(), alice, config({ url }));
    await callbacks.save(taskId, alice, config({ url }));
    await callbacks.delete(taskId, alice, 'one');
    await callbacks.send(statusEvent(taskId, WORKING), alice);
    expect(received).toEqual([]);
  });

  it('extends the expiry of the callbacks with the task', async () => {
    let now = NOON;
    const [{ callbacks }, taskId, { url, received }] = [push({ now: () => now }), newTaskId(), await receiver(200)];
    await callbacks.save(taskId, alice, config({ url }));
    now = new Date(NOON.getTime() + 3 * DAY_MS);
    await callbacks.send(statusEvent(taskId, WORKING), alice);
    await purgeExpired(database.db, new Date(NOON.getTime() + 8 * DAY_MS));
    await callbacks.send(statusEvent(taskId, COMPLETED), alice);
    expect(received).toHaveLength(2);
  });

  it('is retried before the next one is sent', async () => {
    const [{ callbacks, lines }, taskId, { url, received }] = [push(), newTaskId(), await receiver(500, 429, 200)];
    await callbacks.save(taskId, alice, config({ url }));
    await Promise.all([WORKING, COMPLETED].map((state) => callbacks.send(statusEvent(taskId, state), alice)));
    expect(statesOf(received)).toEqual([...Array(3).fill('TASK_STATE_WORKING'), 'TASK_STATE_COMPLETED']);
    expect(lines).toEqual([]);
  });

  it.each([
    [503, 3],
    [302, 1],
    [400, 1],
    [401, 1],
  ])('is dropped after %i as often as %i times, and the log has no secret', async (status, attempts) => {
    const [{ callbacks, lines }, taskId, { url, port, received }] = [push(), newTaskId(), await receiver(status)];
    const secrets = { token: 'secret-token', authentication: { scheme: 'Bearer', credentials: 'secret-credentials' } };
    await callbacks.save(taskId, alice, config({ url: `${url}/secret-path?secret=query`, ...secrets }));
    await callbacks.send(statusEvent(taskId, WORKING), alice);
    expect(received).toHaveLength(attempts);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ taskId, config: 'one', host: `127.0.0.1:${port}`, reason: `HTTP ${status}`, attempts }),
    ]);
    expect(lines.join()).not.toContain('secret');
  });

  it('is not delivered to a callback that resolves to this machine by now', async () => {
    const [taskId, { port, received }] = [newTaskId(), await receiver(200)];
    const resolve = vi.fn(async () => ['127.0.0.1']).mockResolvedValueOnce(['93.184.215.14']);
    const { callbacks, lines } = push({ rules: { allowLocal: false, resolve } });
    const rebound = config({ url: `https://hooks.example.com:${port}/` });
    await callbacks.check(rebound, alice);
    await callbacks.save(taskId, alice, rebound);
    await callbacks.send(statusEvent(taskId, WORKING), alice);
    expect(received).toEqual([]);
    expect(JSON.parse(lines[0]!)).toMatchObject({ reason: 'INPUT_INVALID', attempts: 1 });
  });

  it('reaches one callback while another hangs', async () => {
    const [{ callbacks, shutdown }, taskId, working] = [push(), newTaskId(), await receiver(200)];
    const asked = Promise.withResolvers<void>();
    const hanging = await answering(() => asked.resolve());
    onTestFinished(hanging.close);
    await callbacks.save(taskId, alice, config({ url: `http://127.0.0.1:${hanging.port}/` }));
    await callbacks.save(taskId, alice, config({ id: 'two', url: working.url }));
    const sent = [WORKING, COMPLETED].map((state) => callbacks.send(statusEvent(taskId, state), alice));
    await asked.promise;
    expect(statesOf(await working.until(2))).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    const stopped = performance.now();
    expect(await shutdown.stop('the test wants it')).toEqual([]);
    await Promise.all(sent);
    // Two events at the receiver timeout of five seconds would take ten.
    expect(performance.now() - stopped).toBeLessThan(4_500);
  });

  it('is not retried during shutdown, and not sent after it', async () => {
    const [{ callbacks, shutdown, lines }, taskId, { url, received, until }] = [
      push({ backoffMs: [600_000, 600_000] }),
      newTaskId(),
      await receiver(500),
    ];
    await callbacks.save(taskId, alice, config({ url }));
    const sent = [WORKING, COMPLETED].map((state) => callbacks.send(statusEvent(taskId, state), alice));
    await until(1);
    await shutdown.stop('the test wants it');
    await Promise.all(sent);
    expect(statesOf(received)).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(lines).toHaveLength(2);
    await callbacks.send(statusEvent(taskId, COMPLETED), alice);
    expect([received.length, lines.length]).toEqual([2, 2]);
  });

  it("is dropped above the owner's queue limit without effect on other owners", async () => {
    const [{ callbacks, shutdown, lines }, taskId, other, { url, until }] = [push(), newTaskId(), newTaskId(), await receiver(200)];
    const asked = Promise.withResolvers<void>();
    const hanging = await answering(() => asked.resolve());
    onTestFinished(hanging.close);
    await callbacks.save(taskId, alice, config({ url: `http://127.0.0.1:${hanging.port}/` }));
    await callbacks.save(other, bob, config({ url }));
    const sent = Array.from({ length: MAX_PENDING.perOwner + 2 }, () => callbacks.send(statusEvent(taskId, WORKING), alice));
    await Promise.any(sent);
    await callbacks.send(statusEvent(other, WORKING), bob);
    expect(await until(1)).toHaveLength(1);
    await asked.promise;
    await Promise.all([shutdown.stop('the test wants it'), ...sent]);
    const reasons = lines.map((line) => JSON.parse(line).reason);
    expect(reasons.filter((reason) => reason === 'too many are waiting')).toHaveLength(2);
    expect(reasons).toHaveLength(MAX_PENDING.perOwner + 2);
  });

  it('is delivered without the history, in either version', async () => {
    const [{ callbacks }, taskId, { url, received }] = [push(), newTaskId(), await receiver(200)];
    for (const version of ['1.0', '0.3']) await callbacks.save(taskId, contextOf(ALICE, version), config({ id: version, url }));
    const history = messageOf([textPart('something of before')]).message!;
    const task = { ...taskOf(taskId, SUBMITTED), history: [history] };
    await callbacks.send({ payload: { $case: 'task', value: task } }, alice, task);
    await callbacks.send(statusEvent(taskId, WORKING), alice, task);
    expect(received).toHaveLength(4);
    for (const { body } of received) expect(body).not.toContain('before');
    expect(task.history).toEqual([history]);
  });

  it('is dropped when it is too large', async () => {
    const [{ callbacks, lines }, taskId, { url, received }] = [push(), newTaskId(), await receiver(200)];
    await callbacks.save(taskId, alice, config({ url }));
    const parts = [textPart('x'.repeat(MAX_NOTIFICATION_BYTES))];
    const artifact = { artifactId: 'a', name: '', description: '', parts, metadata: undefined, extensions: [] };
    const value = { taskId, contextId: 'c', artifact, append: false, lastChunk: true, metadata: undefined };
    await callbacks.send({ payload: { $case: 'artifactUpdate', value } }, alice);
    await callbacks.send(statusEvent(taskId, COMPLETED), alice);
    expect(statesOf(received)).toEqual(['TASK_STATE_COMPLETED']);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ reason: 'too large', attempts: 0 }]);
  });

  it('is limited per host across owners and outcomes, and logged once', async () => {
    const [{ callbacks, lines }, taskId, other, { url, received }] = [push(), newTaskId(), newTaskId(), await receiver(503)];
    for (let n = 0; n < MAX_PUSH_CONFIGS_PER_TASK; n++) await callbacks.save(taskId, alice, config({ id: `id-${n}`, url: `${url}/${n}` }));
    await callbacks.save(other, bob, config({ url: url.replace('127.0.0.1', 'localhost') }));
    for (let n = 0; n < 6; n++) await callbacks.send(statusEvent(taskId, WORKING), alice);
    expect(received).toHaveLength(POSTS_PER_MINUTE);
    const reasons = lines.map((line) => JSON.parse(line).reason);
    expect(reasons.filter((reason) => reason === 'too many for one host')).toHaveLength(1);
    await callbacks.send(statusEvent(other, WORKING), bob);
    expect(received).toHaveLength(POSTS_PER_MINUTE + 3);
  });

  it('is counted by host name without trailing dots', async () => {
    const { url, received } = await receiver(200);
    const { callbacks } = push();
    const taskId = newTaskId();
    for (let n = 0; n < MAX_PUSH_CONFIGS_PER_TASK; n++) {
      const host = n % 2 === 0 ? 'localhost' : 'localhost.';
      await callbacks.save(taskId, alice, config({ id: `id-${n}`, url: `${url.replace('127.0.0.1', host)}/${n}` }));
    }
    for (let n = 0; n * MAX_PUSH_CONFIGS_PER_TASK <= POSTS_PER_MINUTE; n++) await callbacks.send(statusEvent(taskId, WORKING), alice);
    expect(received).toHaveLength(POSTS_PER_MINUTE);
  });

  it('never fails for its callbacks, and a message without a task is not delivered', async () => {
    const broken = push({ secretBox: createSecretBox('y'.repeat(40)) });
    const taskId = newTaskId();
    await push().callbacks.save(taskId, alice, config());
    await broken.callbacks.send(statusEvent(taskId, WORKING), alice);
    expect(JSON.parse(broken.lines[0]!)).toMatchObject({ taskId, msg: 'the callbacks of a task could not be read' });
    await broken.callbacks.send({ payload: undefined }, alice);
    await broken.callbacks.send(statusEvent(taskId, WORKING), new ServerCallContext());
    expect(JSON.parse(broken.lines[1]!)).toMatchObject({ msg: 'task notifications could not be sent' });
    expect(broken.lines).toHaveLength(2);
  });
});
