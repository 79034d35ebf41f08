import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { type Db, type Document, MongoBulkWriteError, MongoServerError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectMongo, ensureIndexes, isDatabaseUnreachable, isDuplicateKey, toDatabaseError } from '../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { cable } from '../../support/network/throttled-proxy.ts';

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await testDatabase();
  db = database.db;
});
afterAll(() => database.drop());
beforeEach(() => db.dropCollection('items'));

describe('what the store relies on', () => {
  it('inserts, updates and deletes', async () => {
    const items = db.collection<{ n: number; state?: string }>('items');
    expect((await items.insertMany([{ n: 1 }, { n: 2 }, { n: 3 }])).insertedCount).toBe(3);
    expect((await items.updateOne({ n: 1 }, { $set: { state: 'done' } })).modifiedCount).toBe(1);
    expect((await items.updateMany({}, [{ $set: { n: { $add: ['$n', 10] } } }])).modifiedCount).toBe(3);
    expect((await items.replaceOne({ n: 12 }, { n: 20 }, { upsert: true })).modifiedCount).toBe(1);
    expect((await items.deleteOne({ n: 13 })).deletedCount).toBe(1);
    expect(await items.find({}, { sort: { n: 1 }, projection: { _id: 0 } }).toArray()).toEqual([{ n: 11, state: 'done' }, { n: 20 }]);
  });

  it('changes a document exactly once under 50 parallel compare-and-sets', async () => {
    const items = db.collection<{ state: string; by?: number }>('items');
    await items.insertOne({ state: 'open' });
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, by) => items.findOneAndUpdate({ state: 'open' }, { $set: { state: 'taken', by } })),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('writes in bulk', async () => {
    const result = await db
      .collection<{ n: number }>('items')
      .bulkWrite([
        { insertOne: { document: { n: 1 } } },
        { updateOne: { filter: { n: 1 }, update: { $inc: { n: 1 } } } },
        { updateOne: { filter: { n: 9 }, update: { $set: { n: 9 } }, upsert: true } },
        { deleteOne: { filter: { n: 2 } } },
      ]);
    expect(result).toMatchObject({ insertedCount: 1, modifiedCount: 1, upsertedCount: 1, deletedCount: 1 });
  });

  it('aggregates, joins and reads more than one batch', async () => {
    const items = db.collection<{ n: number }>('items');
    await items.insertMany(Array.from({ length: 1_000 }, (_, n) => ({ n })));
    const [facets] = await items
      .aggregate([{ $facet: { total: [{ $count: 'n' }], top: [{ $sort: { n: -1 } }, { $limit: 1 }, { $project: { _id: 0 } }] } }])
      .toArray();
    expect(facets).toEqual({ total: [{ n: 1_000 }], top: [{ n: 999 }] });
    const joined = items.aggregate([{ $match: { n: 5 } }, { $lookup: { from: 'items', localField: 'n', foreignField: 'n', as: 'same' } }]);
    expect((await joined.next())?.same).toHaveLength(1);
    expect(await items.find({}, { batchSize: 100 }).toArray()).toHaveLength(1_000);
    expect(await items.countDocuments({ n: { $lt: 10 } })).toBe(10);
    expect(await items.distinct('n', { n: { $lt: 3 } })).toEqual([0, 1, 2]);
  });
});

describe('ensureIndexes', () => {
  const specs = [
    {
      collection: 'items',
      indexes: [
        { key: { day: 1, horizon: 1 }, unique: true },
        { key: { sequence: 1 }, unique: true, partialFilterExpression: { sequence: { $type: 'number' } } },
        { key: { expiresAt: 1 }, expireAfterSeconds: 0 },
      ],
    },
  ];

  it('creates unique, partial and expiring indexes, any number of times', async () => {
    await Promise.all([ensureIndexes(db, specs), ensureIndexes(db, specs)]);
    await ensureIndexes(db, specs);
    expect(await db.collection('items').indexes()).toHaveLength(4);
  });

  it('accepts an index of the same keys and options under another name', async () => {
    const items = db.collection('items');
    await items.createIndexes([
      { key: { expiresAt: 1 }, expireAfterSeconds: 0, name: 'made by hand' },
      { key: { sequence: 1 }, unique: true, partialFilterExpression: { sequence: { $type: 'number' } }, name: 'sequence' },
    ]);
    await ensureIndexes(db, specs);
    expect((await items.indexes()).map(({ name }) => name)).toEqual(['_id_', 'made by hand', 'sequence', 'day_1_horizon_1']);
  });

  it.each<[string, Document, Document, string]>([
    ['no uniqueness', { day: 1, horizon: 1 }, {}, 'it lacks unique: true'],
    ['another life', { expiresAt: 1 }, { expireAfterSeconds: 60 }, 'it has expireAfterSeconds: 60 instead of 0'],
    ['no life', { expiresAt: 1 }, {}, 'it lacks expireAfterSeconds: 0'],
    ['a uniqueness', { state: 1 }, { unique: true }, 'it has unique: true'],
    ['a life', { state: 1 }, { expireAfterSeconds: 60 }, 'it has expireAfterSeconds: 60'],
    ['a sparseness', { state: 1 }, { sparse: true }, 'it has sparse: true'],
    ['no filter', { sequence: 1 }, { unique: true }, 'it lacks partialFilterExpression: {"sequence":{"$type":"number"}}'],
    ['no use for queries', { state: 1 }, { hidden: true }, 'it has hidden: true'],
  ])('names an index with %s, and the command that mends it', async (_what, key, options, difference) => {
    const wanted = [{ collection: 'items', indexes: [...specs[0]!.indexes, { key: { state: 1 } }] }];
    const items = db.collection('items');
    for (const name of ['by "hand"', undefined]) {
      await items.createIndex(key, { ...options, ...(name && { name }) });
      const error = await ensureIndexes(db, wanted).catch((failure) => failure);
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', field: 'MONGODB_URI', retryable: false });
      expect(error.message).toContain(`on ${JSON.stringify(key)} of items`);
      expect(error.message).toContain(difference);
      const [, dropped] = /db\.getCollection\("items"\)\.dropIndex\((".+")\)/.exec(error.suggestedAction) ?? [];
      await items.dropIndex(JSON.parse(dropped!));
      await ensureIndexes(db, wanted);
      await db.dropCollection('items');
    }
  });

  it('names an index that has the name of another one', async () => {
    await db.collection('items').createIndex({ other: 1 }, { name: 'expiresAt_1' });
    await expect(ensureIndexes(db, specs)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('on {"other":1} of items'),
      suggestedAction: expect.stringContaining('dropIndex("expiresAt_1")'),
    });
  });

  it('names a unique index that the stored documents contradict', async () => {
    await db.collection('items').insertMany([
      { day: 1, horizon: 1 },
      { day: 1, horizon: 1 },
    ]);
    await expect(ensureIndexes(db, specs)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/indexes of items .*day_1_horizon_1.*\{ day: 1, horizon: 1 \}/),
      suggestedAction: expect.stringContaining('documents'),
    });
  });

  it('makes duplicates recognizable', async () => {
    await ensureIndexes(db, specs);
    const items = db.collection('items');
    await items.insertMany([
      { day: 1, horizon: 1 },
      { day: 1, horizon: 2 },
    ]);
    const refusals = await Promise.all([
      items.insertOne({ day: 1, horizon: 2 }).catch((error) => error),
      items.insertMany([{ day: 1, horizon: 1 }]).catch((error) => error),
      items.updateOne({ horizon: 1 }, { $set: { horizon: 2 } }).catch((error) => error),
      items.findOneAndUpdate({ horizon: 1 }, { $set: { horizon: 2 } }).catch((error) => error),
    ]);
    expect(refusals.map(isDuplicateKey)).toEqual([true, true, true, true]);
    expect(isDuplicateKey(new Error('E11000'))).toBe(false);
  });
});

describe('connectMongo', () => {
  it('requests journaling with every write, in the form that the embedded engine applies', () => {
    const inReplicaSet = process.env.MONGODB_URI !== undefined;
    expect(db.writeConcern).toMatchObject({ w: inReplicaSet ? expect.anything() : 1, journal: true });
    expect(db.readConcern?.level).toBe(inReplicaSet ? 'majority' : undefined);
  });

  it('uses the database of the URI, or oracle', async () => {
    const named = await connectMongo(database.uri);
    expect(named.db.databaseName).toMatch(/^test_/);
    const unnamed = await connectMongo(database.uri.replace(/\/test_[^?]*/, '/'));
    expect(unnamed.db.databaseName).toBe('oracle');
    await unnamed.ping();
    await Promise.all([named.close(), unnamed.close()]);
  });

  it('reads from the primary, whatever the URI prefers', async () => {
    const { db, close } = await connectMongo(`${database.uri}${database.uri.includes('?') ? '&' : '?'}readPreference=secondaryPreferred`);
    expect(db.collection('items').readPreference?.mode).toBe('primary');
    await close();
  });

  it('has the driver repeat lost commands, whatever the URI says', async () => {
    const { client, close } = await connectMongo(
      `${database.uri}${database.uri.includes('?') ? '&' : '?'}retryWrites=false&retryReads=false`,
    );
    expect(client.options).toMatchObject({ retryWrites: true, retryReads: true });
    await close();
  });

  it('does not wait for a server that never answers', async () => {
    const line = await cable(database.uri);
    const connected = await connectMongo(line.uri);
    line.hang();
    const began = performance.now();
    await expect(connected.ping()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true });
    // The driver by itself gives up after ten seconds and more.
    expect(performance.now() - began).toBeLessThan(6_000);
    await connected.close();
    await line.close();
  });

  it('distinguishes an unreachable server from other errors', async () => {
    const line = await cable(database.uri);
    const connected = await connectMongo(line.uri, { serverSelectionTimeoutMS: 300 });
    const items = connected.db.collection('items');
    const refused = await items.updateOne({}, { $nothing: { a: 1 } }).catch((error) => error);
    expect([refused instanceof Error, isDatabaseUnreachable(refused)]).toEqual([true, false]);
    line.cut();
    const gone = await items.findOne({}).catch((error) => error);
    expect(isDatabaseUnreachable(gone)).toBe(true);
    await connected.close();
    await line.close();
  });

  it.each([
    ['an election', { code: 10107, errmsg: 'not primary' }, true],
    ['a shutdown', { code: 11600, errmsg: 'interrupted at shutdown' }, true],
    ['a write that may be repeated', { code: 1, errmsg: 'x', errorLabels: ['RetryableWriteError'] }, true],
    ['an expired time limit', { code: 50, errmsg: 'operation exceeded time limit' }, true],
    ['a duplicate key', { code: 11000, errmsg: 'E11000' }, false],
    ['a rejected document', { code: 121, errmsg: 'Document failed validation' }, false],
  ])('counts %s as passing or not, also in a bulk write', (_what, answer, passes) => {
    const single = new MongoServerError(answer);
    const { errorLabels = [] } = answer as { errorLabels?: string[] };
    const bulk = Object.assign(Object.create(MongoBulkWriteError.prototype) as MongoBulkWriteError, single, { writeErrors: [] });
    for (const label of errorLabels) bulk.addErrorLabel(label);
    expect([isDatabaseUnreachable(single), isDatabaseUnreachable(bulk)]).toEqual([passes, passes]);
    expect(toDatabaseError(single)).toEqual(passes ? expect.objectContaining({ code: 'DATABASE_UNAVAILABLE', retryable: true }) : single);
  });

  it('reports an absent server without the credentials', async () => {
    const uri = 'mongodb://some-user:s3cr%2Ft@127.0.0.1:9/x';
    const error = await connectMongo(uri, { serverSelectionTimeoutMS: 300 }).catch((failure) => failure);
    expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true, message: expect.stringContaining('127.0.0.1:9') });
    expect(inspect(error, { depth: 20 })).not.toMatch(/some-user|s3cr/);
  });

  it('reports rejected credentials without showing them', async () => {
    const uri = database.uri.replace(/^mongodb:\/\/([^@]*@)?/, 'mongodb://some-user:s3cr%2Ft@');
    const error = await connectMongo(uri).catch((failure) => failure);
    expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(inspect(error, { depth: 20 })).not.toMatch(/some-user|s3cr/);
  });

  it.each([
    'postgres://u:s3cret@host/x',
    'mongodb://some-user:s3cr/et@host/x',
    'mongodb://some-user:s3c@ret@host/x',
    'mongodb://some-user:s3cret%@host/x',
  ])('rejects %s as a setting, without repeating it', async (uri) => {
    const error = await connectMongo(uri).catch((failure) => failure);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', field: 'MONGODB_URI' });
    expect(inspect(error, { depth: 20 })).not.toMatch(/some-user|s3c/);
  });
});

describe('agenda', () => {
  it('runs a scheduled job, and drains one that is running', async () => {
    const agenda = new Agenda({ backend: new MongoBackend({ mongo: db }), processEvery: 50 });
    const runs: string[] = [];
    agenda.define('quick', async () => {
      runs.push('quick');
    });
    agenda.define('slow', async () => {
      runs.push('slow begins');
      await delay(500);
      runs.push('slow ends');
    });
    await agenda.start();
    await agenda.every('0 3 * * *', 'quick', undefined, { timezone: 'UTC' });
    await agenda.now('quick');
    await agenda.schedule(new Date(Date.now() + 200), 'slow');
    await expect.poll(() => runs, { timeout: 10_000, interval: 20 }).toEqual(['quick', 'slow begins']);
    await agenda.drain({ timeout: 5_000 });
    expect(runs).toEqual(['quick', 'slow begins', 'slow ends']);
    const { jobs } = await agenda.queryJobs({ name: 'slow' });
    expect(jobs[0]).toMatchObject({ lockedAt: undefined });
  });
});
