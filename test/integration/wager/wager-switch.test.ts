import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { WagerSwitch } from '../../../src/wager/wagers.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
/** Two processes: nothing shared but the database. */
let one: WagerSwitch;
let other: WagerSwitch;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.collection('switches').deleteMany({});
  one = new WagerSwitch(database.db);
  other = new WagerSwitch(database.db);
});

const at = (minute: number) => new Date(Date.UTC(2026, 0, 5, 21, minute));

it('is not paused by default', async () => {
  expect(await one.getState()).toEqual({ paused: false, since: null, reason: null });
  expect(await one.resume(at(1))).toEqual({ paused: false, since: null, reason: null, changed: false });
});

it('pauses and resumes for all processes', async () => {
  const paused = { paused: true, since: at(1), reason: 'the venue is odd' };
  expect(await one.pause('the venue is odd', at(1))).toEqual({ ...paused, changed: true });
  expect(await other.getState()).toEqual(paused);
  expect(await other.resume(at(2))).toEqual({ paused: false, since: at(2), reason: null, changed: true });
  expect(await one.getState()).toEqual({ paused: false, since: at(2), reason: null });
  expect(await one.pause('again', at(3))).toMatchObject({ paused: true, since: at(3), reason: 'again', changed: true });
});

it('keeps the first of two reasons', async () => {
  await one.pause('first', at(1));
  expect(await other.pause('second', at(2))).toEqual({ paused: true, since: at(1), reason: 'first', changed: false });
  await one.resume(at(3));
  expect(await other.resume(at(4))).toEqual({ paused: false, since: at(3), reason: null, changed: false });
});

it('changes once for concurrent requests', async () => {
  const turns = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).pause(`reason ${index}`, at(index))));
  expect(turns.filter(({ changed }) => changed)).toHaveLength(1);
  const { reason } = await one.getState();
  for (const turn of turns) expect(turn.reason).toBe(reason);
  const back = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).resume(at(30 + index))));
  expect(back.filter(({ changed }) => changed)).toHaveLength(1);
});
