import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import type { StrikeMarket } from '../../../src/wager/venue.ts';
import { buildUndecidedWager, WAGER_INDEXES, WagerBook, type WagerDoc } from '../../../src/wager/wagers.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

const FIRST_DAY = 20_000;
const DAYS = 120;
/** A market of this day has no winner. */
const VOID_DAY = FIRST_DAY;
/** A market of this day is settled only at the end. */
const LATE_DAY = FIRST_DAY + 20;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, WAGER_INDEXES);
});
afterAll(() => database.drop());

function priced(day: number): WagerDoc {
  const venue = { name: day % 10 === 3 ? 'other' : 'paper', asset: 'USDC' };
  const wager = buildUndecidedWager(venue, day, new Date(day * 86_400_000));
  if (day % 7 === 0) return wager;
  // Two days in a row have one market.
  const market = { id: `market-${Math.floor(day / 2)}` } as StrikeMarket;
  return { ...wager, market, pModel: 0.3 + (day % 5) / 10, qMarket: 0.5 };
}

it('compares every settled market once, whenever it settles, and does not read settled days again', async () => {
  const { db } = database;
  const book = new WagerBook(db);
  const fresh = (venues: string[]) => new WagerBook(db).compareWithMarket(venues);
  const settle = (day: number) => book.wagers.updateOne({ day, market: { $ne: null } }, { $set: { winner: day % 3 === 0 ? 'YES' : 'NO' } });
  for (let day = FIRST_DAY; day < FIRST_DAY + DAYS; day++) {
    await book.wagers.insertOne(priced(day));
    if (day - 2 === VOID_DAY) await book.wagers.updateOne({ day: VOID_DAY }, { $set: { settledAt: new Date(0) } });
    else if (day - 2 !== LATE_DAY) await settle(day - 2);
    if (day === FIRST_DAY + 90) await settle(LATE_DAY);
    for (const venues of [['paper'], ['paper', 'other']]) {
      expect(await book.compareWithMarket(venues)).toEqual(await fresh(venues));
    }
  }
  const { settledMarkets } = await book.compareWithMarket(['paper']);
  expect(settledMarkets).toBeGreaterThan(45);
  // No such change exists: it shows what is read.
  await book.wagers.updateMany({ day: { $lt: FIRST_DAY + 60 } }, { $set: { pModel: 0 } });
  expect(await book.compareWithMarket(['paper'])).not.toEqual(await fresh(['paper']));
});
