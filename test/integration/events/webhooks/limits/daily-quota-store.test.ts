import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  DAILY_QUOTA_INDEXES,
  DailyQuotaStore,
  MAX_REPLAYED_EVENTS_PER_DAY,
  MAX_TESTS_PER_DAY,
} from '../../../../../src/events/webhooks/limits.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { newWallet } from '../../../../support/webhooks/webhook-registry.ts';

const NOON = new Date('2026-03-10T12:00:00Z');
const LAST_MS = new Date('2026-03-10T23:59:59.999Z');
const MIDNIGHT = new Date('2026-03-11T00:00:00Z');

let database: TestDatabase;
let daily: DailyQuotaStore;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...DAILY_QUOTA_INDEXES]);
  daily = new DailyQuotaStore(database.db);
});
afterAll(() => database.drop());

const owner = () => newWallet().toLowerCase();
const test = (wallet: string, count = 1) => ({ use: 'test', wallet, count }) as const;
const replay = (wallet: string, count: number) => ({ use: 'replay', wallet, count }) as const;

it('is taken up to what a day has, all or none, by each wallet and for each use of its own', async () => {
  const wallet = owner();
  await daily.consume(test(wallet, MAX_TESTS_PER_DAY - 1), NOON);
  await expect(daily.consume(test(wallet, 2), NOON)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    details: { limit: MAX_TESTS_PER_DAY, used: MAX_TESTS_PER_DAY - 1 },
    retryAfterSeconds: 12 * 3_600,
  });
  await daily.consume(test(wallet), NOON);
  await expect(daily.consume(test(wallet), LAST_MS)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 });
  await daily.consume(test(owner()), NOON);
  await daily.consume(replay(wallet, MAX_REPLAYED_EVENTS_PER_DAY), NOON);
  await expect(daily.consume(replay(owner(), MAX_REPLAYED_EVENTS_PER_DAY + 1), NOON)).rejects.toMatchObject({ details: { used: 0 } });
});

it('begins anew at midnight UTC', async () => {
  const wallet = owner();
  await daily.consume(test(wallet, MAX_TESTS_PER_DAY), LAST_MS);
  await expect(daily.consume(test(wallet), LAST_MS)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await daily.consume(test(wallet), MIDNIGHT);
});

it('is given back to the day that it was taken of', async () => {
  const wallet = owner();
  const taken = await daily.consume(test(wallet, MAX_TESTS_PER_DAY), LAST_MS);
  await daily.consume(test(wallet, MAX_TESTS_PER_DAY), MIDNIGHT);
  await daily.refund(taken, 2);
  await expect(daily.consume(test(wallet), MIDNIGHT)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await expect(daily.consume(test(wallet, 3), LAST_MS)).rejects.toMatchObject({ details: { used: MAX_TESTS_PER_DAY - 2 } });
  await daily.consume(test(wallet, 2), LAST_MS);
});

it('is never more than a day has, however many ask at once', async () => {
  const wallet = owner();
  const each = MAX_TESTS_PER_DAY / 10;
  const asked = await Promise.allSettled(
    Array.from({ length: 25 }, () => new DailyQuotaStore(database.db).consume(test(wallet, each), NOON)),
  );
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  for (const one of asked) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'RATE_LIMITED' });
});

it('is forgotten once its day is over, and not before', async () => {
  const wallet = owner();
  await daily.consume(test(wallet, MAX_TESTS_PER_DAY), NOON);
  const kept = () => database.db.collection('webhook_daily_use').countDocuments({ _id: new RegExp(wallet) as never });
  await daily.purge(LAST_MS);
  expect(await kept()).toBe(1);
  await daily.purge(MIDNIGHT);
  expect(await kept()).toBe(0);
});
