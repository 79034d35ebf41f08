import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRandom } from '../../../src/forecast/bootstrap.ts';
import { DAY_MS } from '../../../src/forecast/day.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { buildUndecidedWager, type Publicity, WAGER_INDEXES, WagerBook, type WagerDoc } from '../../../src/wager/wagers.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

const FIRST_DAY = 20_000;
const DAYS = 60;
const SEED = 3;
const SETTLED = ['WIN', 'LOSS', 'VOID'];

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, WAGER_INDEXES);
});
afterAll(() => database.drop());

const random = createRandom(SEED);
const pick = <T>(...values: T[]): T => values[Math.floor(random() * values.length)]!;

/** Settled from its day to two weeks later, or not. */
function wagerOf(day: number): WagerDoc {
  const wager = buildUndecidedWager({ name: 'paper', asset: 'USDC' }, day, new Date(day * DAY_MS));
  const state = pick('WIN', 'LOSS', 'VOID', 'PLACED', 'SKIPPED') as WagerDoc['state'];
  const isSettled = SETTLED.includes(state);
  return { ...wager, state, settledAt: isSettled ? new Date((day + Math.floor(15 * random())) * DAY_MS) : null };
}

const isPublic = ({ state, day, settledAt }: WagerDoc, { at, throughDay }: Publicity) =>
  SETTLED.includes(state) && day <= throughDay && settledAt !== null && settledAt <= at;

it('finds the wagers that were public at an instant and not at an earlier one, wherever the hidden days begin', async () => {
  const book = new WagerBook(database.db);
  const wagers = Array.from({ length: DAYS }, (_, index) => wagerOf(FIRST_DAY + index));
  await book.wagers.insertMany(wagers);
  let found = 0;
  for (let week = 7; week < DAYS + 21; week += 7) {
    const instant = (index: number): Publicity => ({
      at: new Date((FIRST_DAY + index) * DAY_MS),
      throughDay: FIRST_DAY + index - pick(1, 2, 9, 20),
    });
    const [earlier, later] = [instant(week - 7), instant(week)];
    const expected = wagers.filter((wager) => isPublic(wager, later) && !isPublic(wager, earlier));
    const listed = await book.listSettledBetween(earlier, later);
    expect(listed.map(({ _id }) => _id)).toEqual(expected.map(({ _id }) => _id));
    found += listed.length;
  }
  expect(found).toBeGreaterThan(DAYS / 4);
});
