import { TaskState } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { A2A_INDEXES } from '../../../../../src/a2a/server.ts';
import { buildTask, buildTaskStatus, MongoTaskStore, TASK_LEASE_MS } from '../../../../../src/a2a/tasks.ts';
import { purgeExpired } from '../../../../../src/app/retention.ts';
import { PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { idleFor } from '../../../../support/a2a/a2a-bench.ts';
import { callContext } from '../../../../support/a2a/call-context.ts';
import { messageOf, textPart } from '../../../../support/agent-clients/a2a.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { BASIC } from '../../../../support/service/skills.ts';

const START = Date.UTC(2026, 0, 5, 23, 59, 59);
const { TASK_STATE_CANCELED, TASK_STATE_COMPLETED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_UNSPECIFIED, TASK_STATE_WORKING } = TaskState;

let database: TestDatabase;
let store: MongoTaskStore;
const nowMs = START;
let addresses = 0;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, A2A_INDEXES);
  store = new MongoTaskStore(database.db, () => new Date(nowMs));
});
afterAll(() => database?.drop());

function somebody() {
  addresses += 1;
  return callContext({ caller: PUBLIC_CALLER, address: `192.0.2.${addresses}` });
}

/** Of a wallet, which can list its tasks. */
function holder() {
  addresses += 1;
  const wallet = `0x${addresses.toString(16).padStart(40, '0')}` as const;
  return callContext({ caller: { tier: 'basic', wallet }, address: '192.0.2.1' });
}

function taskAt(state: TaskState, atMs = nowMs, contextId: string = crypto.randomUUID()) {
  const message = messageOf([textPart('hello')]).message!;
  const taskId = crypto.randomUUID();
  const task = buildTask({ taskId, contextId, message, at: new Date(atMs) });
  return { ...task, status: buildTaskStatus({ taskId, contextId, state, at: new Date(atMs) }) };
}

const ASK = {
  tenant: '',
  contextId: '',
  status: TASK_STATE_UNSPECIFIED,
  pageSize: undefined,
  pageToken: '',
  statusTimestampAfter: undefined,
};

describe('a terminal state', () => {
  test('is never overwritten', async () => {
    const context = somebody();
    const task = taskAt(TASK_STATE_WORKING);
    await store.save(task, context);
    const ended = (state: TaskState) => ({ ...task, status: buildTaskStatus({ ...task, taskId: task.id, state, at: new Date(nowMs) }) });
    await Promise.all([TASK_STATE_CANCELED, TASK_STATE_COMPLETED].map((state) => store.save(ended(state), context)));
    const final = (await store.load(task.id, context))!.status!.state;
    expect([TASK_STATE_CANCELED, TASK_STATE_COMPLETED]).toContain(final);
    for (const state of [TASK_STATE_WORKING, TASK_STATE_CANCELED, TASK_STATE_COMPLETED]) {
      await store.save(
        { ...ended(state), artifacts: [{ artifactId: 'late', name: '', description: '', parts: [], metadata: undefined, extensions: [] }] },
        context,
      );
      expect(await store.load(task.id, context)).toMatchObject({ status: { state: final }, artifacts: [] });
    }
  });

  test('tasks of other owners can be neither saved nor read', async () => {
    const [owner, other] = [somebody(), somebody()];
    const task = taskAt(TASK_STATE_WORKING);
    await store.save(task, owner);
    await store.save({ ...task, contextId: 'theirs' }, other);
    expect(await store.load(task.id, other)).toBeUndefined();
    expect((await store.load(task.id, owner))!.contextId).toBe(task.contextId);
    expect((await store.list({ ...ASK, includeArtifacts: true }, other)).totalSize).toBe(0);
  });

  test('keys that the database rejects are stored unchanged', async () => {
    const context = somebody();
    const metadata = JSON.parse('{"$set": {"a.b": 1}, "__proto__": {"x": 1}, "": null, "$where": "1"}');
    const task = { ...taskAt(TASK_STATE_COMPLETED), metadata };
    await store.save(task, context);
    expect(JSON.stringify((await store.load(task.id, context))!.metadata)).toBe(JSON.stringify(metadata));
  });
});

describe('the list', () => {
  test('pages without gap or repeat, newest first, through tasks of the same instant', async () => {
    const context = holder();
    const instants = [0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4];
    for (const offset of instants) await store.save(taskAt(TASK_STATE_COMPLETED, START - offset * 1_000), context);
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await store.list({ ...ASK, pageSize: 3, pageToken, includeArtifacts: true }, context);
      expect(page).toMatchObject({ totalSize: instants.length, pageSize: 3 });
      seen.push(...page.tasks.map((task) => `${task.status?.timestamp} ${task.id}`));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toHaveLength(instants.length);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
  });

  test('filters by context, state and time, and includes artifacts on request', async () => {
    const context = holder();
    const artifacts = [{ artifactId: 'a', name: 'a', description: '', parts: [textPart('x')], metadata: undefined, extensions: [] }];
    await store.save({ ...taskAt(TASK_STATE_COMPLETED, START, 'one'), artifacts }, context);
    await store.save(taskAt(TASK_STATE_INPUT_REQUIRED, START + 1_000, 'two'), context);
    const size = async (filter: object) => (await store.list({ ...ASK, includeArtifacts: false, ...filter }, context)).totalSize;
    expect(await size({})).toBe(2);
    expect(await size({ contextId: 'one' })).toBe(1);
    expect(await size({ status: TASK_STATE_INPUT_REQUIRED })).toBe(1);
    expect(await size({ statusTimestampAfter: new Date(START).toISOString() })).toBe(1);
    expect(await size({ contextId: 'one', status: TASK_STATE_INPUT_REQUIRED })).toBe(0);
    const artifactsOf = async (includeArtifacts: boolean) =>
      (await store.list({ ...ASK, contextId: 'one', includeArtifacts }, context)).tasks[0].artifacts.length;
    expect([await artifactsOf(false), await artifactsOf(true)]).toEqual([0, 1]);
  });

  test('of an anonymous caller is empty: others share its address', async () => {
    const context = somebody();
    const task = taskAt(TASK_STATE_COMPLETED);
    await store.save(task, context);
    expect(await store.list({ ...ASK, pageSize: 3, includeArtifacts: true }, context)).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 3,
      totalSize: 0,
    });
    expect((await store.load(task.id, context))!.id).toBe(task.id);
  });

  test.each(['x', 'bnVsbA', 'WzEsMl0', Buffer.from('[-1,"a"]').toString('base64url'), 'a'.repeat(5_000), '%00'])(
    'rejects a page token that was not issued here: %s',
    async (pageToken) => {
      await expect(store.list({ ...ASK, pageToken, includeArtifacts: false }, somebody())).rejects.toMatchObject({
        code: 'INPUT_INVALID',
        field: 'pageToken',
      });
    },
  );
});

describe('leases and expiry', () => {
  test('a task is taken over after its lease, by one process, for its own message only', async () => {
    const context = somebody();
    const task = taskAt(TASK_STATE_WORKING);
    const message = task.history[0];
    await store.open(task, context);
    await idleFor(database.db, TASK_LEASE_MS - 30_000);
    expect(await store.takeOver(task.id, message, context)).toBe(false);
    await idleFor(database.db, 30_000);
    expect(await store.takeOver(task.id, { ...message, messageId: 'another' }, context)).toBe(false);
    expect(await store.takeOver(task.id, message, somebody())).toBe(false);
    const taken = await Promise.all(Array.from({ length: 8 }, () => store.takeOver(task.id, message, context)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect((await store.load(task.id, context))!.status!.state).toBe(TASK_STATE_WORKING);
  });

  test('a released lease is acquired at once, and waiting or ended tasks are not taken over', async () => {
    const context = somebody();
    for (const [state, isTaken] of [
      [TASK_STATE_WORKING, true],
      [TASK_STATE_INPUT_REQUIRED, false],
      [TASK_STATE_COMPLETED, false],
    ] as const) {
      const task = taskAt(state);
      await store.open(task, context);
      await store.release(context);
      expect(await store.takeOver(task.id, task.history[0], context)).toBe(isTaken);
      await idleFor(database.db);
      expect((await store.list({ ...ASK, includeArtifacts: false }, somebody())).totalSize).toBe(0);
      expect((await store.look(task.id, context))!.read().status!.state).toBe(state);
    }
  });

  test('a former lease holder can neither write nor release after a takeover', async () => {
    const [first, second] = [callContext({ caller: BASIC, address: 'x' }), callContext({ caller: BASIC, address: 'x' })];
    const task = taskAt(TASK_STATE_WORKING);
    await store.open(task, first);
    await store.release(first);
    expect(await store.takeOver(task.id, task.history[0], second)).toBe(true);
    const ended = (state: TaskState) => ({ ...task, status: buildTaskStatus({ ...task, taskId: task.id, state, at: new Date(nowMs) }) });
    await store.save(ended(TASK_STATE_COMPLETED), first);
    await store.release(first);
    expect((await store.load(task.id, second))!.status!.state).toBe(TASK_STATE_WORKING);
    await store.save(ended(TASK_STATE_COMPLETED), second);
    expect((await store.load(task.id, first))!.status!.state).toBe(TASK_STATE_COMPLETED);
  });

  test('the history is bounded and has no duplicates', async () => {
    const context = somebody();
    const task = taskAt(TASK_STATE_INPUT_REQUIRED);
    const history = Array.from({ length: 100 }, (_, index) => ({ ...task.history[0], messageId: `m${index}` }));
    await store.save({ ...task, history: [...history, ...history.slice(-5)] }, context);
    const kept = (await store.load(task.id, context))!.history.map(({ messageId }) => messageId);
    expect(kept).toEqual(Array.from({ length: 40 }, (_, index) => `m${index + 60}`));
  });

  test('wallet tasks expire 7 days after their last change, anonymous ones an hour after opening', async () => {
    const [wallet, address] = [callContext({ caller: BASIC, address: 'anywhere' }), somebody()];
    const [one, other] = [taskAt(TASK_STATE_COMPLETED), taskAt(TASK_STATE_COMPLETED)];
    await store.save(one, wallet);
    await store.save(other, address);
    const there = async () => [(await store.load(one.id, wallet)) !== undefined, (await store.load(other.id, address)) !== undefined];
    await purgeExpired(database.db, new Date(nowMs + 3_599_999));
    expect(await there()).toEqual([true, true]);
    await purgeExpired(database.db, new Date(nowMs + 3_600_000));
    expect(await there()).toEqual([true, false]);
    await purgeExpired(database.db, new Date(nowMs + 7 * 86_400_000));
    expect(await there()).toEqual([false, false]);
  });
});
