import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureIndexes } from '../../../../src/mongo.ts';
import { DAILY_USE_INDEXES, DailyUse, REPLAYED_A_DAY, TESTS_A_DAY } from '../../../../src/push/webhooks/daily-use.ts';
import { type TestDatabase, testDatabase } from '../../../support/database.ts';
import { newWallet } from '../../../support/webhook-registry.ts';

const NOON = new Date('2026-03-10T12:00:00Z');
const LAST_MS = new Date('2026-03-10T23:59:59.999Z');
const MIDNIGHT = new Date('2026-03-11T00:00:00Z');

let database: TestDatabase;
let daily: DailyUse;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...DAILY_USE_INDEXES]);
  daily = new DailyUse(database.db);
});
afterAll(() => database.drop());

const owner = () => newWallet().toLowerCase();
const test = (wallet: string, count = 1) => ({ use: 'test', wallet, count }) as const;
const replay = (wallet: string, count: number) => ({ use: 'replay', wallet, count }) as const;

it('is taken up to what a day has, all or none, by each wallet and for each use of its own', async () => {
  const wallet = owner();
  await daily.take(test(wallet, TESTS_A_DAY - 1), NOON);
  await expect(daily.take(test(wallet, 2), NOON)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    details: { limit: TESTS_A_DAY, used: TESTS_A_DAY - 1 },
    retryAfterSeconds: 12 * 3_600,
  });
  await daily.take(test(wallet), NOON);
  await expect(daily.take(test(wallet), LAST_MS)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 });
  await daily.take(test(owner()), NOON);
  await daily.take(replay(wallet, REPLAYED_A_DAY), NOON);
  await expect(daily.take(replay(owner(), REPLAYED_A_DAY + 1), NOON)).rejects.toMatchObject({ details: { used: 0 } });
});

it('begins anew at midnight UTC', async () => {
  const wallet = owner();
  await daily.take(test(wallet, TESTS_A_DAY), LAST_MS);
  await expect(daily.take(test(wallet), LAST_MS)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await daily.take(test(wallet), MIDNIGHT);
});

it('is given back to the day that it was taken of', async () => {
  const wallet = owner();
  const taken = await daily.take(test(wallet, TESTS_A_DAY), LAST_MS);
  await daily.take(test(wallet, TESTS_A_DAY), MIDNIGHT);
  await daily.giveBack(taken, 2);
  await expect(daily.take(test(wallet), MIDNIGHT)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await expect(daily.take(test(wallet, 3), LAST_MS)).rejects.toMatchObject({ details: { used: TESTS_A_DAY - 2 } });
  await daily.take(test(wallet, 2), LAST_MS);
});

it('is never more than a day has, however many ask at once', async () => {
  const wallet = owner();
  const each = TESTS_A_DAY / 10;
  const asked = await Promise.allSettled(Array.from({ length: 25 }, () => new DailyUse(database.db).take(test(wallet, each), NOON)));
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  for (const one of asked) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'RATE_LIMITED' });
});

it('is forgotten once its day is over, and not before', async () => {
  const wallet = owner();
  await daily.take(test(wallet, TESTS_A_DAY), NOON);
  const kept = () => database.db.collection('webhook_daily_use').countDocuments({ _id: new RegExp(wallet) as never });
  await daily.purge(LAST_MS);
  expect(await kept()).toBe(1);
  await daily.purge(MIDNIGHT);
  expect(await kept()).toBe(0);
});
