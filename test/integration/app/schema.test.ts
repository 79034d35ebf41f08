import type { Db } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Migration, migrateSchema } from '../../../src/app/schema.ts';
import { DAY_MS } from '../../../src/forecast/day.ts';
import { recordBackup } from '../../../src/platform/backup.ts';
import { createLog } from '../../../src/platform/log.ts';
import { sweepWrites } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';

let database: FaultedDatabase;
beforeAll(async () => {
  database = await faultedDatabase();
});
afterAll(() => database.drop());
beforeEach(() => clear());

let running = 0;
let ran: string[] = [];
/** One that must not run beside itself, in writes that may be cut off between each other. */
const migration = (title: string, run: (db: Db) => Promise<void>): Migration => ({
  title,
  async run(db) {
    running += 1;
    ran.push(title);
    expect(running).toBe(1);
    await run(db).finally(() => {
      running -= 1;
    });
  },
});
const MIGRATIONS = [
  migration('cents', async (db) => {
    for await (const { _id, usd } of db.collection('prices').find({ usd: { $exists: true } }))
      await db.collection('prices').updateOne({ _id }, { $set: { cents: usd * 100 }, $unset: { usd: '' } });
  }),
  migration('totals', async (db) => {
    const all = await db.collection('prices').find().toArray();
    const total = all.reduce((sum, { cents }) => sum + cents, 0);
    await db.collection<{ _id: string }>('totals').updateOne({ _id: 'all' }, { $set: { total } }, { upsert: true });
  }),
];
const RESULT = { prices: [100, 200, 300], totals: [600], version: 3 };

async function clear(): Promise<void> {
  const { db } = database.direct;
  for (const { name } of await db.listCollections().toArray()) await db.dropCollection(name);
  [running, ran] = [0, []];
}
const insertOld = () => database.direct.db.collection('prices').insertMany([{ usd: 1 }, { usd: 2 }, { usd: 3 }]);

async function readResult() {
  const { db } = database.direct;
  const read = async (name: string) => db.collection(name).find().toArray();
  return {
    prices: (await read('prices')).map(({ cents }) => cents),
    totals: (await read('totals')).map(({ total }) => total),
    version: (await read('schema'))[0]?.version,
  };
}

const log = createLog({ level: 'silent', secrets: [] });
const migrate = (db = database.direct.db, options: Partial<Parameters<typeof migrateSchema>[1]> = {}) =>
  migrateSchema(db, { log, needsBackup: false, mayMigrate: true, migrations: MIGRATIONS, leaseMs: 200, ...options });

it('an older database killed at any of its writes ends as one that was not', async () => {
  const points = await sweepWrites({
    name: 'migration',
    proxy: database.proxy,
    async prepare() {
      await clear();
      await insertOld();
    },
    scenario: () => migrate(database.db).catch(() => undefined),
    async check() {
      await migrate();
      expect(await readResult()).toEqual(RESULT);
    },
  });
  // Version, a lease a step, three prices, a total, a version a step, each before and after its effect.
  expect(points.length).toBeGreaterThanOrEqual(2 * 9);
});

it('a new database has the newest version at once, and one without a version the first', async () => {
  await migrate();
  expect([ran, (await readResult()).version]).toEqual([[], 3]);
  await clear();
  await insertOld();
  await migrate(undefined, { migrations: [] });
  expect((await readResult()).version).toBe(1);
});

it('of processes that start together one migrates, also where a step outlasts its lease', async () => {
  await insertOld();
  const slow = migration('slow', () => new Promise((done) => setTimeout(done, 700)));
  await Promise.all(Array.from({ length: 4 }, () => migrate(undefined, { migrations: [...MIGRATIONS, slow] })));
  expect(ran).toEqual(['cents', 'totals', 'slow']);
  expect(await readResult()).toEqual({ ...RESULT, version: 4 });
});

it('a newer database is refused by name, and a command migrates none', async () => {
  await insertOld();
  await expect(migrate(undefined, { mayMigrate: false })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    suggestedAction: expect.stringContaining('Start a worker'),
  });
  await migrate();
  await expect(migrate(undefined, { migrations: MIGRATIONS.slice(1) })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'Setting MONGODB_URI: the database has schema version 3 of a newer release; this one knows versions up to 2',
  });
});

it('a record that counts is not migrated without a backup of the last day', async () => {
  await insertOld();
  const { db } = database.direct;
  const start = () => migrate(undefined, { needsBackup: true });
  const backUp = (ageMs: number) =>
    recordBackup(db, { finishedAt: new Date(Date.now() - ageMs), bytes: 1, documents: 1, sequence: {} } as Parameters<
      typeof recordBackup
    >[1]);
  await expect(start()).rejects.toMatchObject({ suggestedAction: expect.stringMatching(/^There is no verified backup: .*svc backup/) });
  await backUp(DAY_MS + 60_000);
  await expect(start()).rejects.toMatchObject({ suggestedAction: expect.stringMatching(/^The newest verified backup is of 20/) });
  expect(ran).toEqual([]);
  await backUp(DAY_MS - 60_000);
  await start();
  expect(await readResult()).toEqual(RESULT);
});
