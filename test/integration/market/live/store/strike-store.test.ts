import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../../../src/forecast/day.ts';
import type { StrikeSnapshot } from '../../../../../src/market/feed.ts';
import { STRIKE_INDEXES, StrikeStore } from '../../../../../src/market/live/store.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { strikeSnapshot } from '../../../../support/market/strike-snapshot.ts';

const AT = Date.parse('2026-03-11T10:00:30Z');
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
const count = (collection = 'strike_snapshots') => database.db.collection(collection).countDocuments();

describe('StrikeStore', () => {
  it('returns saved snapshots', async () => {
    const one = snapshot({ bids: [{ price: 0.4, size: 12.5 }], negRisk: null });
    await store.save([one]);
    expect(await store.latest(AT, HOUR_MS)).toEqual([one]);
  });

  it('returns the newest snapshot of each market at an instant and keeps earlier ones', async () => {
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

  it('excludes old and expired snapshots', async () => {
    await store.save([snapshot({ marketId: 'old', receivedAtMs: AT - HOUR_MS - 1 }), snapshot({ marketId: 'over', expiresAtMs: AT })]);
    expect(await store.latest(AT, HOUR_MS)).toEqual([]);
    expect(await count()).toBe(2);
  });

  it('ignores repeated writes and a second snapshot in the same minute', async () => {
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

  it('stores terms once per market and prices per snapshot', async () => {
    await store.save(Array.from({ length: 20 }, (_, minute) => snapshot({ receivedAtMs: AT - minute * MINUTE_MS })));
    expect([await count(), await count('strike_markets')]).toEqual([20, 1]);
    const [kept] = await database.db.collection('strike_snapshots').find().toArray();
    expect(Object.keys(kept)).toEqual(expect.not.arrayContaining(['question', 'resolution', 'url', 'conditionId', 'yesTokenId']));
  });

  it("returns an old snapshot's prices with the newest terms", async () => {
    const old = snapshot({ bid: 0.3, bids: [{ price: 0.3, size: 7 }], tickSize: 0.01, receivedAtMs: AT - 30 * MINUTE_MS });
    await store.save([old]);
    const finer = snapshot({ bid: 0.975, tickSize: 0.001, minOrderSize: 10, negRisk: true });
    await store.save([finer]);
    expect(await store.latest(AT, HOUR_MS)).toEqual([finer]);
    expect(await store.latest(AT - 10 * MINUTE_MS, HOUR_MS)).toEqual([{ ...old, tickSize: 0.001, minOrderSize: 10, negRisk: true }]);
    expect(await count('strike_markets')).toBe(1);

    await store.save([{ ...old, receivedAtMs: old.receivedAtMs + MINUTE_MS }]);
    expect(await store.latest(AT, HOUR_MS), 'terms told earlier come too late').toEqual([finer]);
  });

  it('is consistent for ten concurrent writers with a changed tick size', async () => {
    const tickSizes = [0.01, 0.001];
    const looks = Array.from({ length: 10 }, (_, minute) =>
      ['one', 'two', 'three'].map((marketId) =>
        snapshot({ marketId, bid: 0.5 + minute / 100, tickSize: tickSizes[minute % 2], receivedAtMs: AT - (9 - minute) * MINUTE_MS }),
      ),
    );
    await Promise.all(looks.toReversed().map((look) => new StrikeStore(database.db).save(look)));
    expect([await count(), await count('strike_markets')]).toEqual([30, 3]);
    expect(await store.latest(AT, HOUR_MS)).toEqual(expect.arrayContaining(looks[9]));
    const early = await store.latest(AT - 5 * MINUTE_MS, HOUR_MS);
    expect(early.map(({ bid, tickSize }) => [bid, tickSize])).toEqual(Array(3).fill([looks[4][0].bid, 0.001]));
  });

  it('saves no snapshot without its market', async () => {
    await database.db.createCollection('strike_markets', { validator: { never: true } });
    await expect(store.save([snapshot()])).rejects.toMatchObject({ code: 121 });
    expect(await count()).toBe(0);
  });

  it('excludes snapshots of an unknown market', async () => {
    const known = snapshot({ marketId: 'known' });
    await store.save([known, snapshot({ marketId: 'lost' })]);
    await database.db.collection<{ _id: string }>('strike_markets').deleteOne({ _id: 'polymarket/lost' });
    await database.db.collection('strike_snapshots').insertOne({ receivedAtMs: AT, expiresAtMs: AT + HOUR_MS, bid: 0.1 });
    expect(await store.latest(AT, HOUR_MS)).toEqual([known]);
  });

  it('ignores an empty list', async () => {
    await store.save([]);
    expect(await store.latest(AT, HOUR_MS)).toEqual([]);
  });
});
