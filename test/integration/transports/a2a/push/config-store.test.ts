import type { ServerCallContext } from '@a2a-js/sdk/server';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_PUSH_CONFIGS_PER_TASK, PUSH_CONFIG_INDEXES, TaskPush } from '../../../../../src/a2a/push.ts';
import { purgeExpired } from '../../../../../src/app/retention.ts';
import { DAY_MS, HOUR_MS } from '../../../../../src/forecast/day.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { createSecretBox } from '../../../../../src/platform/secrets.ts';
import { createShutdown } from '../../../../../src/platform/shutdown.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { ALICE, alice, BOB, bob, pushConfig as config, contextOf, newTaskId } from '../../../../support/events/push-config.ts';

const SECRET = 'x'.repeat(40);
const NOON = new Date('2026-03-01T12:00:00Z');

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, PUSH_CONFIG_INDEXES);
});
afterAll(() => database.drop());

function openStore() {
  const now = () => NOON;
  const log = createLog({ level: 'silent', secrets: [] });
  const common = { db: database.db, log, now, shutdown: createShutdown({ log }) };
  const push = new TaskPush({ ...common, secretBox: createSecretBox(SECRET), rules: { allowLocal: false, resolve: async () => [] } });
  return Object.assign(push, {
    load: async (taskId: string, context: ServerCallContext) => (await push.loadWithMetadata(taskId, context)).map(({ config }) => config),
  });
}

describe('the callbacks of a task', () => {
  it('are stored as registered, with the protocol version', async () => {
    const [store, taskId] = [openStore(), newTaskId()];
    const first = config({ taskId, tenant: 't', token: 'tok', authentication: { scheme: 'Bearer', credentials: 'cred' } });
    await store.save(taskId, alice, structuredClone(first));
    await store.save(taskId, contextOf(ALICE, '0.3'), config({ id: 'two', taskId }));
    expect(await store.load(taskId, alice)).toEqual([first, config({ id: 'two', taskId })]);
    expect((await store.loadWithMetadata(taskId, alice)).map(({ wireVersion }) => wireVersion)).toEqual(['1.0', '0.3']);
  });

  it('round-trip any content', async () => {
    const store = openStore();
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, text, text, fc.option(text), async (id, url, token, credentials) => {
        const taskId = newTaskId();
        const authentication = credentials === null ? undefined : { scheme: 'Bearer', credentials };
        const saved = config({ id, url, token, authentication });
        await store.save(taskId, alice, saved);
        expect(saved.id).not.toBe('');
        expect(await store.load(taskId, alice)).toEqual([config({ id: id || saved.id, url, token, authentication })]);
      }),
      { numRuns: 25 },
    );
  });

  it('get a new id when they have none', async () => {
    const [store, taskId] = [openStore(), newTaskId()];
    const saved = [config({ id: '' }), config({ id: '' })];
    for (const one of saved) await store.save(taskId, alice, one);
    expect(saved.map(({ id }) => id)).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), expect.stringMatching(/^[\da-f-]{36}$/)]);
    expect(await store.load(taskId, alice)).toEqual(saved);
    expect(new Set(saved.map(({ id }) => id)).size).toBe(2);
  });

  it('get the id of the task in protocol 0.3 when they have none', async () => {
    const [store, taskId] = [openStore(), newTaskId()];
    const saved = config({ id: '' });
    await store.save(taskId, contextOf(ALICE, '0.3'), saved);
    expect(saved.id).toBe(taskId);
  });

  it('replace those of the same id, also at the limit', async () => {
    const [store, taskId] = [openStore(), newTaskId()];
    for (let n = 0; n < MAX_PUSH_CONFIGS_PER_TASK; n++) await store.save(taskId, alice, config({ id: `id-${n}` }));
    await store.save(taskId, contextOf(ALICE, '0.3'), config({ id: 'id-3', token: 'new' }));
    const found = await store.loadWithMetadata(taskId, alice);
    expect(found).toHaveLength(MAX_PUSH_CONFIGS_PER_TASK);
    expect(found.find((one) => one.config.id === 'id-3')).toEqual({ config: config({ id: 'id-3', token: 'new' }), wireVersion: '0.3' });
    await expect(store.save(taskId, alice, config({ id: 'id-5' }))).rejects.toMatchObject({ code: 'CONFLICT', details: { limit: 5 } });
    await store.delete(taskId, alice, 'id-0');
    await store.save(taskId, alice, config({ id: 'id-5' }));
    expect(await store.load(taskId, alice)).toHaveLength(MAX_PUSH_CONFIGS_PER_TASK);
  });

  it('number five when twenty are registered concurrently in two processes', async () => {
    const taskId = newTaskId();
    const stores = [openStore(), openStore()];
    const saves = Array.from({ length: 20 }, (_, n) => stores[n % 2]!.save(taskId, alice, config({ id: `id-${n}` })));
    const failed = (await Promise.allSettled(saves)).filter(({ status }) => status === 'rejected');
    expect(failed).toHaveLength(15);
    expect(failed[0]).toMatchObject({ reason: { code: 'CONFLICT' } });
    expect(await stores[0]!.load(taskId, alice)).toHaveLength(5);
  });

  it('number one when the same is registered twenty times concurrently', async () => {
    const [store, taskId] = [openStore(), newTaskId()];
    await Promise.all(Array.from({ length: 20 }, () => store.save(taskId, alice, config())));
    expect(await store.load(taskId, alice)).toEqual([config()]);
  });

  it('are invisible to other owners, whatever the tenant', async () => {
    const [store, taskId] = [openStore(), newTaskId()];
    await store.save(taskId, contextOf(ALICE, '1.0', 'tenant'), config());
    for (const other of [bob, contextOf(BOB, '1.0', 'tenant'), contextOf(null), contextOf(null, '1.0', ALICE)]) {
      expect(await store.load(taskId, other)).toEqual([]);
      await store.delete(taskId, other, 'one');
    }
    expect(await store.load(taskId, alice)).toEqual([config()]);
  });

  it('can be deleted repeatedly', async () => {
    const [store, taskId] = [openStore(), newTaskId()];
    await store.save(taskId, alice, config());
    await store.save(taskId, alice, config({ id: taskId }));
    await store.delete(taskId, alice, 'one');
    await store.delete(taskId, alice, 'one');
    expect(await store.load(taskId, alice)).toEqual([config({ id: taskId })]);
    await store.delete(taskId, alice);
    expect(await store.load(taskId, alice)).toEqual([]);
  });

  it('are encrypted in the database, bound to their task', async () => {
    const [store, taskId, other] = [openStore(), newTaskId(), newTaskId()];
    await store.save(
      taskId,
      alice,
      config({ url: 'https://legible.example', token: 'legible', authentication: { scheme: 'legible', credentials: 'legible' } }),
    );
    await store.save(other, alice, config());
    const kept = database.db.collection('a2a_push_configs');
    const doc = await kept.findOne({ _id: { $eq: JSON.stringify([`wallet:${ALICE}`, taskId, 'one']) } } as object);
    expect(JSON.stringify(doc)).not.toContain('legible');
    await kept.updateOne(
      { taskId: other, owner: `wallet:${ALICE}` },
      { $set: { sealed: doc!.sealed } },
      { hint: { owner: 1, taskId: 1, slot: 1 } },
    );
    await expect(store.load(other, alice)).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'ENCRYPTION_SECRET' });
  });

  it('are deleted with their task', async () => {
    const [store, taskId, other] = [openStore(), newTaskId(), newTaskId()];
    for (const id of ['one', 'two']) await store.save(taskId, alice, config({ id }));
    await store.save(other, alice, config());
    await store.save(taskId, bob, config());
    await store.deleteForTask(`wallet:${ALICE}`, taskId);
    expect([await store.load(taskId, alice), await store.load(other, alice), await store.load(taskId, bob)]).toEqual([
      [],
      [config()],
      [config()],
    ]);
  });

  it('expire with their task', async () => {
    const [store, taskId] = [openStore(), newTaskId()];
    const nobody = contextOf(null);
    for (const context of [alice, nobody]) await store.save(taskId, context, config());
    const left = async () => [(await store.load(taskId, alice)).length, (await store.load(taskId, nobody)).length];
    await purgeExpired(database.db, new Date(NOON.getTime() + HOUR_MS - 1));
    expect(await left()).toEqual([1, 1]);
    await purgeExpired(database.db, new Date(NOON.getTime() + HOUR_MS));
    expect(await left()).toEqual([1, 0]);
    await purgeExpired(database.db, new Date(NOON.getTime() + 7 * DAY_MS - 1));
    expect(await left()).toEqual([1, 0]);
    await purgeExpired(database.db, new Date(NOON.getTime() + 7 * DAY_MS));
    expect(await left()).toEqual([0, 0]);
  });
});
