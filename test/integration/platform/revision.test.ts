import { afterAll, beforeAll, expect, it } from 'vitest';
import { Revision } from '../../../src/platform/concurrency.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

it('advances with each write, and once after work that contains several, even if the work fails', async () => {
  const revision = new Revision(database.db, { collection: 'revisions', _id: 'one' });
  const write = () => revision.advance();
  expect(await revision.read()).toBe(0);
  await write();
  await write();
  expect(await revision.read()).toBe(2);
  await revision.advanceOnceAfter(async () => {
    await write();
    await write();
    expect(await revision.read()).toBe(2);
  });
  expect(await revision.read()).toBe(3);
  const failing = revision.advanceOnceAfter(async () => {
    await write();
    throw new Error('it failed');
  });
  await expect(failing).rejects.toThrow('it failed');
  expect(await revision.read()).toBe(4);
  await write();
  expect(await revision.read()).toBe(5);
});
