import { afterAll, beforeAll, expect, it } from 'vitest';
import { Revision } from '../../../src/platform/concurrency.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

it('advances with each write', async () => {
  const revision = new Revision(database.db, { collection: 'revisions', _id: 'one' });
  expect(await revision.read()).toBe(0);
  await revision.advance();
  await revision.advanceAfter(Promise.resolve());
  expect(await revision.read()).toBe(2);
});
