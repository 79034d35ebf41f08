import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Document, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_INDEXES } from '../../../src/app/indexes.ts';
import { FOR_EVER, purgeExpired, RETENTION } from '../../../src/app/retention.ts';
import { DAY_MS } from '../../../src/forecast/day.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

const NOW = new Date('2026-11-01T12:00:00Z');
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, ALL_INDEXES);
});
afterAll(() => database.drop());

/** A document that a rule looks at, as the collection has it. */
function docOf(name: string, field: string, ageMs: number): Document & { _id: ObjectId } {
  const ms = NOW.getTime() - ageMs;
  const value = field.endsWith('Ms') ? ms : new Date(ms);
  const [outer, inner] = field.split('.') as [string, string?];
  // Unique where the collection's indexes are.
  const unique = Object.fromEntries(['hash', 'messageId', 'once', 'slot', 'position', 'jobId'].map((key) => [key, new ObjectId()]));
  return {
    _id: new ObjectId(),
    ...unique,
    ...(name === 'agent_jobs' && { funded: false, delivery: null }),
    [outer]: inner ? { [inner]: value } : value,
  };
}

const RULES = RETENTION.flatMap(({ collections, after }) =>
  after === undefined || after.filter?.state !== undefined ? [] : collections.map((name) => ({ name, ...after })),
);

describe('the retention of', () => {
  it.each(RULES)('$name ends $days days after $field', async ({ name, field, days, filter }) => {
    const collection = database.db.collection(name);
    const limit = days * DAY_MS;
    const own = filter?.cause === undefined ? {} : { cause: 'live', state: 'PENDING' };
    const [past, within] = [limit + 1, limit - 1].map((age) => ({ ...docOf(name, field, age), ...own }));
    const endless = { ...docOf(name, field, 0), ...own, [field.split('.')[0]!]: null };
    await collection.insertMany([past!, within!, endless]);
    await purgeExpired(database.db, NOW);
    expect((await collection.find().toArray()).map(({ _id }) => _id)).toEqual([within!._id, endless._id]);
    await collection.deleteMany({});
  });

  it('replays and tests ends sooner, unless they are pending', async () => {
    const collection = database.db.collection('webhook_deliveries');
    const make = (cause: string, state: string, days: number) => ({ ...docOf('', 'createdAt', days * DAY_MS + 1), cause, state });
    const kept = [make('live', 'DELIVERED', 7), make('replay:1', 'PENDING', 7), make('ping:1', 'DELIVERED', 6)];
    await collection.insertMany([make('replay:2', 'FAILED', 7), make('ping:2', 'DELIVERED', 7), ...kept]);
    await purgeExpired(database.db, NOW);
    expect((await collection.find().toArray()).map(({ cause }) => cause)).toEqual(['live', 'replay:1', 'ping:1']);
  });

  it('jobs that were funded or delivered, and what is kept for ever, never ends', async () => {
    const insert = async (name: string, fields: object) => {
      const dates = Object.fromEntries(RULES.map(({ field }) => [field.split('.')[0], new Date(0)]));
      await database.db.collection(name).insertOne({ ...docOf(name, 'at', 0), ...dates, onChain: { expiresAt: new Date(0) }, ...fields });
    };
    await insert('agent_jobs', { funded: true });
    await insert('agent_jobs', { delivery: {} });
    const ever = RETENTION.filter(({ kept }) => kept === FOR_EVER).flatMap(({ collections }) => collections);
    for (const name of ever) await insert(name, {});
    await purgeExpired(database.db, NOW);
    for (const name of ever) expect([name, await database.db.collection(name).countDocuments()]).toEqual([name, 1]);
    expect(await database.db.collection('agent_jobs').countDocuments()).toBe(2);
  });
});

it('many documents are deleted in batches, and a failure in one collection stops no other', async () => {
  const { db } = database;
  await db.collection('strike_snapshots').insertMany(Array.from({ length: 2_500 }, () => docOf('', 'receivedAtMs', 91 * DAY_MS)));
  await db.collection('admin_audit').insertOne(docOf('', 'at', 731 * DAY_MS));
  const broken = new Proxy(db, {
    get: (target, name) =>
      name === 'collection'
        ? (of: string) =>
            of === 'sessions'
              ? {
                  find: () => {
                    throw new Error('no');
                  },
                }
              : target.collection(of)
        : Reflect.get(target, name),
  });
  await expect(purgeExpired(broken, NOW)).rejects.toThrow('Some collections could not be purged');
  expect([await db.collection('strike_snapshots').countDocuments(), await db.collection('admin_audit').countDocuments()]).toEqual([0, 0]);
});

it('the table names every collection of the service, each once', () => {
  const listed = RETENTION.filter(({ after }) => after?.filter?.state === undefined).flatMap(({ collections }) => collections);
  expect(new Set(listed).size).toBe(listed.length);
  const root = resolve(import.meta.dirname, '../../../src');
  const texts = globSync('**/*.ts', { cwd: root, exclude: ['page/**', 'app/retention.ts'] }).map((file) =>
    readFileSync(resolve(root, file), 'utf8'),
  );
  const named = texts.flatMap((text) => [
    ...text.matchAll(/\bcollection(?:<[^(]*>\(|\(|: |\()'([a-z\d_]+)'/g),
    ...text.matchAll(/^(?:export )?const [A-Z_]*(?:COLLECTION|SLOTS|CLIENTS|FAILURES|SNAPSHOTS|MARKETS|DOCUMENTS) = '([a-z\d_]+)'/gm),
  ]);
  const found = new Set([...named.map(([, name]) => name!), ...ALL_INDEXES.map(({ collection }) => collection)]);
  expect([...found].sort()).toEqual(listed.sort());
});
