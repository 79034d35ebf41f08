import { Message, Task, TaskState } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { A2A_INDEXES } from '../../../../../src/a2a/server.ts';
import {
  buildTask,
  buildTaskStatus,
  HISTORY_LIMITS,
  MAX_TASKS,
  MongoTaskStore,
  PAGE_LIMITS,
  type TaskDoc,
} from '../../../../../src/a2a/tasks.ts';
import { PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { callContext } from '../../../../support/a2a/call-context.ts';
import { messageOf, textPart } from '../../../../support/agent-clients/a2a.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';

const { TASK_STATE_COMPLETED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_SUBMITTED, TASK_STATE_WORKING } = TaskState;
const START = Date.UTC(2026, 0, 5, 12);

let database: TestDatabase;
let addresses = 0;
const clock = { ms: START };

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, A2A_INDEXES);
});
afterAll(() => database?.drop());

const openStore = (onDropped?: ConstructorParameters<typeof MongoTaskStore>[2]) =>
  new MongoTaskStore(database.db, () => new Date(clock.ms), onDropped);
const docs = () => database.db.collection<TaskDoc>('a2a_tasks');

function somebody(origin?: string) {
  if (origin === undefined) addresses += 1;
  const page = origin === undefined ? {} : { origin };
  return callContext({ caller: PUBLIC_CALLER, address: `192.0.2.${addresses}`, ...page });
}

/** Of a wallet, which can list its tasks. */
function holder() {
  addresses += 1;
  const wallet = `0x${addresses.toString(16).padStart(40, '0')}` as const;
  return callContext({ caller: { tier: 'basic', wallet }, address: '192.0.2.1' });
}

function taskIn(state: TaskState, more: Partial<Task> = {}): Task {
  clock.ms += 1;
  const [taskId, contextId, at] = [crypto.randomUUID(), crypto.randomUUID(), new Date(clock.ms)];
  const task = buildTask({ taskId, contextId, message: messageOf([textPart('hello')]).message!, at });
  return { ...task, status: buildTaskStatus({ taskId, contextId, state, at }), ...more };
}

/** Messages of 60 KB in total. */
const HISTORY = Array.from({ length: 15 }, () => messageOf([textPart('x'.repeat(3_800))]).message!);
const ASK = { tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '', statusTimestampAfter: undefined };
const bytesOf = (tasks: readonly Task[]) => tasks.reduce((sum, task) => sum + Buffer.byteLength(JSON.stringify(Task.toJSON(task))), 0);

describe('a list of large tasks', () => {
  test('has pages of at most about 1 MB, without gap or repeat', async () => {
    const [store, context] = [openStore(), holder()];
    const sent = Array.from({ length: 30 }, () => taskIn(TASK_STATE_COMPLETED, { history: HISTORY }));
    for (const task of sent) await store.save(task, context);
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await store.list({ ...ASK, pageSize: 100, pageToken, includeArtifacts: true }, context);
      expect(page.totalSize).toBe(30);
      expect(page.tasks.length).toBeGreaterThan(5);
      expect(bytesOf(page.tasks)).toBeLessThanOrEqual(PAGE_LIMITS.responseBytes);
      seen.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toEqual(sent.map(({ id }) => id).reverse());
    const short = await store.list({ ...ASK, pageSize: 100, historyLength: 1, includeArtifacts: false }, context);
    expect([short.tasks.length, short.nextPageToken, short.tasks[0]!.history.length]).toEqual([30, '', 1]);
  });

  test('has at least one task per page, however large', async () => {
    const [store, context] = [openStore(), holder()];
    const parts = [textPart('x'.repeat(PAGE_LIMITS.responseBytes))];
    const artifacts = [{ artifactId: 'a', name: '', description: '', parts, metadata: undefined, extensions: [] }];
    for (let count = 0; count < 2; count++) await store.save(taskIn(TASK_STATE_COMPLETED, { artifacts }), context);
    const first = await store.list({ ...ASK, pageSize: 2, includeArtifacts: true }, context);
    const second = await store.list({ ...ASK, pageSize: 2, includeArtifacts: true, pageToken: first.nextPageToken }, context);
    expect([first.tasks.length, second.tasks.length, second.nextPageToken]).toEqual([1, 1, '']);
    expect((await store.list({ ...ASK, pageSize: 2, includeArtifacts: false }, context)).tasks).toHaveLength(2);
  });
});

test('keeps the newest messages of a history that fit', async () => {
  const [store, context] = [openStore(), somebody()];
  const task = taskIn(TASK_STATE_INPUT_REQUIRED, { history: [...HISTORY, ...Array.from({ length: 5 }, () => HISTORY[0]!)].map(numbered) });
  await store.save(task, context);
  const { history } = (await store.load(task.id, context))!;
  expect(history).toEqual(task.history.slice(-history.length));
  const bytes = history.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(Message.toJSON(one))), 0);
  expect(bytes).toBeLessThanOrEqual(HISTORY_LIMITS.bytes);
  expect(bytes).toBeGreaterThan(HISTORY_LIMITS.bytes - 4_200);
});

function numbered(message: Message, index: number): Message {
  return { ...message, messageId: `m${index}` };
}

describe('the tasks of an address', () => {
  /** Fills the quota with younger copies of this task. */
  async function fill(task: Task, context: ReturnType<typeof somebody>, count = MAX_TASKS.address - 1) {
    const store = openStore();
    await store.save(task, context);
    const { _id, ...fields } = (await docs().findOne({ _id: task.id }))!;
    const copies = Array.from({ length: count }, (_, index) => ({
      ...{ ...fields, _id: `${_id}-${index}` },
      createdAt: new Date(fields.createdAt.getTime() + 1 + index),
    }));
    if (count > 0) await docs().insertMany(copies);
    clock.ms += count + 1;
    return fields.countedAs;
  }

  test('evict the oldest ended task for a new one, and call onEvicted', async () => {
    const dropped: string[] = [];
    const [context, other] = [somebody(), taskIn(TASK_STATE_COMPLETED)];
    const store = openStore(async (_owner, taskId) => void dropped.push(taskId));
    const waiting = taskIn(TASK_STATE_INPUT_REQUIRED);
    await store.save(waiting, context);
    const countedAs = await fill(other, context, MAX_TASKS.address - 2);
    expect(await store.open(taskIn(TASK_STATE_SUBMITTED), context)).toBe(true);
    expect(dropped).toEqual([other.id]);
    expect(await docs().countDocuments({ countedAs })).toBe(MAX_TASKS.address);
    expect(await store.load(waiting.id, context)).toBeDefined();
  });

  test('in INPUT_REQUIRED are evicted when none has ended, and running ones never', async () => {
    const [store, context] = [openStore(), somebody()];
    const working = taskIn(TASK_STATE_WORKING);
    await store.open(working, context);
    const waiting = taskIn(TASK_STATE_INPUT_REQUIRED);
    await fill(waiting, context, MAX_TASKS.address - 2);
    await store.open(taskIn(TASK_STATE_SUBMITTED), context);
    expect([await store.load(waiting.id, context), (await store.load(working.id, context))?.id]).toEqual([undefined, working.id]);
  });

  test('reject a new one while all are running', async () => {
    const [store, context] = [openStore(), somebody()];
    const countedAs = await fill(taskIn(TASK_STATE_WORKING), context);
    const opening = store.open(taskIn(TASK_STATE_SUBMITTED), context);
    await expect(opening).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) });
    expect(await docs().countDocuments({ countedAs })).toBe(MAX_TASKS.address);
    expect(await store.open(taskIn(TASK_STATE_SUBMITTED), somebody())).toBe(true);
  });

  test('are counted apart from those of its pages, which share one count', async () => {
    const [store, program] = [openStore(), somebody()];
    const own = taskIn(TASK_STATE_COMPLETED);
    await store.save(own, program);
    await fill(taskIn(TASK_STATE_COMPLETED), somebody('https://one.example'));
    const sent = taskIn(TASK_STATE_SUBMITTED);
    await store.open(sent, somebody('https://two.example'));
    const [{ countedAs }] = await docs().find({ _id: sent.id }).toArray();
    expect(await docs().countDocuments({ countedAs })).toBe(MAX_TASKS.address);
    expect(await store.load(own.id, program)).toBeDefined();
    expect(await store.load(sent.id, program)).toBeUndefined();
  });

  test('stay within the limit under concurrent requests', async () => {
    const [store, context] = [openStore(), somebody()];
    const countedAs = await fill(taskIn(TASK_STATE_COMPLETED), context);
    await Promise.all(Array.from({ length: 10 }, () => store.open(taskIn(TASK_STATE_SUBMITTED), context)));
    await store.open(taskIn(TASK_STATE_SUBMITTED), context);
    expect(await docs().countDocuments({ countedAs })).toBeLessThanOrEqual(MAX_TASKS.address);
  });
});
