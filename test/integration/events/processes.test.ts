import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ALL_INDEXES } from '../../../src/app/indexes.ts';
import { EventLog } from '../../../src/events/log.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { type MongoWrite, mongoProxy } from '../../support/database/mongo-proxy.ts';
import { member } from '../../support/events/push-members.ts';
import {
  arrived,
  expectInOrder,
  expectNothingLost,
  expectPublished,
  recentChanges,
  registered,
  runKilled,
  untold,
} from '../../support/events/push-run.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, ALL_INDEXES);
});

describe('a publisher that is killed', () => {
  it('publishes nothing twice when it is killed after the insert into the log', async () => {
    const { db, uri } = database;
    const [forecast, attest] = recentChanges(db, 1);
    await forecast.make();
    await attest.make();
    const proxy = await mongoProxy(uri, { command: 'insert', collection: 'events' }, () => void victim.kill());
    const victim = member('publisher', proxy.uri);
    await victim.start();
    await victim.ended();
    await proxy.close();
    expect(await new EventLog(db).lastId()).toBe(8);
    expect(await untold(db)).toBe(5);
    const next = member('publisher', uri);
    onTestFinished(() => next.kill());
    await next.start();
    await expectPublished(db, [...forecast.keys, ...attest.keys]);
  });
});

/** Points at which a worker is killed. */
const PLACES: { what: string; write?: MongoWrite }[] = [
  { what: 'with events in the queue, and nothing that says so', write: { command: 'insert', collection: 'webhook_deliveries' } },
  { what: 'with the events passed on', write: { command: 'update', collection: 'webhooks' } },
  { what: 'with an answer lost' },
];

describe.concurrent('a worker that is killed', () => {
  for (const { what, write } of PLACES) {
    it(`${what}: the next worker delivers everything in order`, async ({ onTestFinished }) => {
      const own = await testDatabase();
      onTestFinished(() => own.drop());
      const { db, uri } = own;
      await ensureIndexes(db, ALL_INDEXES);
      const die = () => void victim.kill();
      const receivers = await registered(db, [write === undefined ? { firstCall: die } : {}]);
      const changes = recentChanges(db, 1);
      for (const { make } of changes) await make();
      const proxy = write && (await mongoProxy(uri, write, die));
      const victim = member('worker', proxy?.uri ?? uri);
      // It may be dead before it can say that it is up.
      await victim.start().catch(() => undefined);
      await victim.ended();
      await proxy?.close();
      const next = member('worker', uri);
      onTestFinished(() => next.kill());
      await next.start();
      const keys = changes.flatMap((change) => change.keys);
      await arrived({ db, followers: [], receivers, last: keys.length, timeout: 30_000 });
      await expectPublished(db, keys);
      await expectInOrder(db, receivers[0], { ids: keys.map((_, index) => index + 1), workersKilled: 1 });
      await receivers[0].close();
    });
  }
});

describe('two processes with the WebSocket and two workers', () => {
  it('lose and duplicate nothing when killed at random moments', async () => {
    const manners = [{}, { ms: 20 }, { fails: (call: number) => call === 5 }];
    const outcome = await runKilled(database, { days: 3, kills: 3, mostMs: 400, seed: 3, manners, settleMs: 30_000 });
    await expectNothingLost(database, outcome);
  });
});
