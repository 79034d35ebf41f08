import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ALL_INDEXES } from '../../../src/compose/indexes.ts';
import { ensureIndexes } from '../../../src/mongo.ts';
import { EventLog } from '../../../src/push/events/log.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { mongoProxy } from '../../support/mongo-proxy.ts';
import { member } from '../../support/push-members.ts';
import { expectNothingLost, expectPublished, recentChanges, runKilled, untold } from '../../support/push-run.ts';

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
  it('when its events are in the log, and it does not know it: the next one tells nothing twice', async () => {
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

describe('two processes with the WebSocket and two workers', () => {
  it('that are killed at random moments lose nothing and double nothing', async () => {
    const manners = [{}, { ms: 20 }, { failsEvery: 30 }];
    const outcome = await runKilled(database, { days: 3, kills: 3, mostMs: 400, seed: 3, manners, settleMs: 30_000 });
    await expectNothingLost(database, outcome);
  });
});
