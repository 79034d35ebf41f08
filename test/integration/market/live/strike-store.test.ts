import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { STRIKE_INDEXES, StrikeStore } from '../../../../src/market/live/store/strike-store.ts';
import type { StrikeSnapshot } from '../../../../src/market/strikes.ts';
import { ensureIndexes } from '../../../../src/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database.ts';
import { strikeSnapshot } from '../../../support/strike-snapshot.ts';

const AT = Date.parse('2026-03-11T10:00:30Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let database: TestDatabase;
let store: StrikeStore;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, STRIKE_INDEXES);
  store = new StrikeStore(database.db);
});

const snapshot = (changes: Partial<StrikeSnapshot> = {}) =>
  strikeSnapshot({ receivedAtMs: AT - 5 * MINUTE_MS, expiresAtMs: AT + 50 * HOUR_MS, ...changes });
const count = () => database.db.collection('strike_snapshots').countDocuments();

describe('the store of strikes', () => {
  it('gives back what it was given', async () => {
    const one = snapshot({ bids: [{ price: 0.4, size: 12.5 }], negRisk: null });
    await store.save([one]);
    expect(await store.latest(AT, HOUR_MS)).toEqual([one]);
  });

  it('tells the newest of each market as of an instant, and keeps the earlier ones', async () => {
    const old = snapshot({ bid: 0.3, receivedAtMs: AT - 30 * MINUTE_MS });
    const other = snapshot({ marketId: 'other', strikeUsd: 99_000 });
    const sameIdElsewhere = snapshot({ venue: 'kalshi', expiresAtMs: AT + HOUR_MS });
    await store.save([snapshot({ bid: 0.5 }), other, sameIdElsewhere]);
    await store.save([old]);
    expect(await store.latest(AT, HOUR_MS)).toEqual([sameIdElsewhere, snapshot({ bid: 0.5 }), other]);
    expect(await store.latest(AT - 10 * MINUTE_MS, HOUR_MS)).toEqual([old]);
    expect(await store.latest(old.receivedAtMs, 0)).toEqual([old]);
    expect(await store.latest(AT - HOUR_MS, HOUR_MS)).toEqual([]);
  });

  it('leaves out what is too old and what has expired', async () => {
    await store.save([snapshot({ marketId: 'old', receivedAtMs: AT - HOUR_MS - 1 }), snapshot({ marketId: 'over', expiresAtMs: AT })]);
    expect(await store.latest(AT, HOUR_MS)).toEqual([]);
    expect(await count()).toBe(2);
  });

  it('is not changed by writing twice, nor by a second look in the same minute', async () => {
    const first = snapshot({ bid: 0.5 });
    await store.save([first]);
    const later = snapshot({ bid: 0.6, receivedAtMs: first.receivedAtMs + 1 });
    const fresh = snapshot({ marketId: 'fresh' });
    await Promise.all([store.save([first, fresh]), store.save([later, fresh])]);
    expect(await count()).toBe(2);
    expect(await store.latest(AT, HOUR_MS)).toEqual(expect.arrayContaining([first, fresh]));
    await store.save([snapshot({ bid: 0.6, receivedAtMs: first.receivedAtMs + MINUTE_MS })]);
    expect(await count()).toBe(3);
    expect(await store.latest(AT, HOUR_MS)).toContainEqual(expect.objectContaining({ marketId: first.marketId, bid: 0.6 }));
  });

  it('has nothing to do for an empty list', async () => {
    await store.save([]);
    expect(await store.latest(AT, HOUR_MS)).toEqual([]);
  });
});
