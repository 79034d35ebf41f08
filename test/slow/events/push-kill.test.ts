import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ALL_INDEXES } from '../../../src/app/indexes.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { killAtRandom, member } from '../../support/events/push-members.ts';
import { expectNothingLost, expectPublished, recentChanges, runKilled } from '../../support/events/push-run.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, ALL_INDEXES);
});

describe('two publishers that are killed at random moments', () => {
  it('send each change once, without a gap', async () => {
    const { db, uri } = database;
    const changes = recentChanges(db, 10);
    const members = [member('publisher', uri), member('publisher', uri)];
    onTestFinished(async () => void (await Promise.all(members.map((one) => one.kill()))));
    await Promise.all(members.map((one) => one.start()));
    await killAtRandom({ members, work: changes.map(({ make }) => make), kills: 12, mostMs: 80, seed: 1 });
    await expectPublished(
      db,
      changes.flatMap(({ keys }) => keys),
    );
  });
});

describe('two processes with the WebSocket and two workers', () => {
  for (const seed of [1, 2]) {
    it(`lose and double none of 500 events when one after the other is killed (seed ${seed})`, async () => {
      const manners = [{}, { ms: 20 }, { fails: (call: number) => call % 120 === 0 }];
      const outcome = await runKilled(database, { days: 30, kills: 16, mostMs: 700, seed, manners, settleMs: 60_000 });
      expect(outcome.keys.length).toBeGreaterThanOrEqual(500);
      await expectNothingLost(database, outcome);
    });
  }
});
