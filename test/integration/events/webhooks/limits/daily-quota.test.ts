import type { Address } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { purgeExpired } from '../../../../../src/app/retention.ts';
import { EVENT_INDEXES, EventLog } from '../../../../../src/events/log.ts';
import { DeliveryQueue, WEBHOOK_INDEXES } from '../../../../../src/events/webhooks/queue.ts';
import { MAX_TESTS_PER_DAY } from '../../../../../src/events/webhooks/registry.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { newWallet, regimeDraft, testRegistry } from '../../../../support/webhooks/webhook-registry.ts';

const NOON = new Date('2026-03-10T12:00:00Z');
const LAST_MS = new Date('2026-03-10T23:59:59.999Z');
const MIDNIGHT = new Date('2026-03-11T00:00:00Z');

let database: TestDatabase;
let clock: Date;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...WEBHOOK_INDEXES, ...EVENT_INDEXES]);
});
afterAll(() => database.drop());
beforeEach(() => {
  clock = NOON;
});

/** Nothing leaves this machine: no name resolves, so that tests fail, and count. */
const registry = () => testRegistry(database.db, { now: () => clock, resolve: () => Promise.reject(new Error('ENOTFOUND')) });
const uses = () => database.db.collection<{ _id: string; used: number }>('webhook_daily_use');
const usesOf = (wallet: Address) => uses().find({ _id: new RegExp(wallet.toLowerCase()) as never });
const spend = (wallet: Address, count: number) =>
  uses().updateOne({ _id: new RegExp(`^test:${wallet.toLowerCase()}`) as never }, { $inc: { used: count } });

async function registered(count: number): Promise<{ wallet: Address; ids: string[] }> {
  const wallet = newWallet();
  const urls = Array.from({ length: count }, (_, index) => `https://hooks.example.com/${index}`);
  const made = await Promise.all(urls.map((url) => registry().register(wallet, { url, events: ['regime.changed'] })));
  return { wallet, ids: made.map(({ _id }) => _id) };
}

it('is taken up to what a day has, by each wallet, and begins anew at midnight UTC', async () => {
  const { wallet, ids } = await registered(4);
  await registry().test(wallet, ids[0]!);
  await spend(wallet, MAX_TESTS_PER_DAY - 2);
  await registry().test(wallet, ids[1]!);
  const rejected = { code: 'RATE_LIMITED', details: { limit: MAX_TESTS_PER_DAY, used: MAX_TESTS_PER_DAY } };
  await expect(registry().test(wallet, ids[2]!)).rejects.toMatchObject({ ...rejected, retryAfterSeconds: 12 * 3_600 });
  const other = await registered(1);
  await registry().test(other.wallet, other.ids[0]!);
  clock = LAST_MS;
  await expect(registry().test(wallet, ids[3]!)).rejects.toMatchObject({ ...rejected, retryAfterSeconds: 1 });
  clock = new Date(MIDNIGHT.getTime() + 5_000);
  await registry().test(wallet, ids[3]!);
});

it('is never more than a day has, however many ask at once', async () => {
  const first = await registered(10);
  const tests = await Promise.allSettled(first.ids.map((id) => registry().test(first.wallet, id)));
  expect(tests.every(({ status }) => status === 'fulfilled')).toBe(true);
  expect((await usesOf(first.wallet).toArray()).map(({ used }) => used)).toEqual([10]);
  await spend(first.wallet, MAX_TESTS_PER_DAY - 13);
  clock = new Date(NOON.getTime() + 5_000);
  const asked = await Promise.allSettled(first.ids.map((id) => registry().test(first.wallet, id)));
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  for (const one of asked) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'RATE_LIMITED' });
});

it('is given back to the day that it was taken of', async () => {
  const { wallet, ids } = await registered(1);
  clock = LAST_MS;
  await new EventLog(database.db).append([regimeDraft('an event', clock)], clock);
  class Broken extends DeliveryQueue {
    override append(): Promise<void> {
      clock = MIDNIGHT;
      return Promise.reject(new Error('the database went away'));
    }
  }
  const broken = testRegistry(database.db, { now: () => clock, parts: { queue: new Broken(database.db) } });
  await expect(broken.replay(wallet, ids[0]!, { sinceId: 0 })).rejects.toThrow('the database went away');
  expect((await usesOf(wallet).toArray()).map(({ used }) => used)).toEqual([0]);
});

it('is forgotten once its day is over, and not before', async () => {
  const { wallet, ids } = await registered(1);
  await registry().test(wallet, ids[0]!);
  const kept = async () => (await usesOf(wallet).toArray()).length;
  await purgeExpired(database.db, LAST_MS);
  expect(await kept()).toBe(1);
  await purgeExpired(database.db, MIDNIGHT);
  expect(await kept()).toBe(0);
});
