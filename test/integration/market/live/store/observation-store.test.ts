import { afterAll, describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import {
  type KnownObservation,
  OBSERVATION_INDEXES,
  ObservationCache,
  ObservationStore,
} from '../../../../../src/market/live/observations.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { testDatabase } from '../../../../support/database/database.ts';

const DAY = parseDay('2026-03-10');
const FINAL_MS = toInstantMs(DAY + 1);
const at = (receivedAtMs: number, backfilled = false) => ({ receivedAtMs, backfilled });
const value = (day: number, number: number) => ({ day, value: number, providerAtMs: null });

const database = await testDatabase();
afterAll(() => database.drop());

async function open() {
  await ensureIndexes(database.db, OBSERVATION_INDEXES);
  await database.db.collection('observations').deleteMany({});
  const store = new ObservationStore(database.db);
  let nowMs = FINAL_MS;
  const memory = () => new ObservationCache(store, () => nowMs);
  return { store, memory, tick: (ms: number) => (nowMs += ms) };
}

async function all(store: ObservationStore): Promise<KnownObservation[]> {
  const docs: KnownObservation[] = [];
  for await (const doc of store.readChanged('sp500', new Date(0))) docs.push(doc);
  return docs;
}

describe('ObservationStore', () => {
  it('adds a version only for a new value or finality', async () => {
    const { store } = await open();
    const save = (number: number, ms: number) => store.save('sp500', 'yahoo', [value(DAY, number)], at(ms));
    expect(await save(100, FINAL_MS - 1)).toBe(1);
    expect(await save(100, FINAL_MS - 1)).toBe(0);
    expect(await save(100, FINAL_MS)).toBe(1);
    expect(await save(100, FINAL_MS + 1)).toBe(0);
    expect(await save(101, FINAL_MS + 2)).toBe(1);
    expect(await save(100, FINAL_MS + 3)).toBe(1);
    const [{ versions }] = await all(store);
    expect(versions.map((version) => [version.value, version.final])).toEqual([
      [100, false],
      [100, true],
      [101, true],
      [100, true],
    ]);
  });

  it('stores one version for ten concurrent writers', async () => {
    const { store } = await open();
    const days = Array.from({ length: 50 }, (_, index) => value(DAY - index, index));
    await Promise.all(Array.from({ length: 10 }, () => store.save('sp500', 'yahoo', days, at(FINAL_MS))));
    const docs = await all(store);
    expect(docs).toHaveLength(50);
    expect(docs.every(({ versions }) => versions.length === 1)).toBe(true);
  });

  it('marks unpublished backfilled values as provisional', async () => {
    const { store, memory } = await open();
    await store.save('sp500', 'yahoo', [value(DAY, 100), value(DAY + 1, 101)], at(FINAL_MS, true));
    const docs = await all(store);
    const byDay = new Map(docs.map(({ day, versions }) => [day, versions[0]]));
    expect(byDay.get(DAY)).toMatchObject({ final: true, backfilled: true });
    expect(byDay.get(DAY + 1)).toMatchObject({ final: false, backfilled: false });
    const history = await memory().getHistory('sp500');
    expect([history.getLastFinalDay(), history.getLastFinalDay('yahoo'), history.getLastFinalDay('fred')]).toEqual([DAY, DAY, null]);
  });

  it('does not reread documents older than a minute', async () => {
    const { store, memory, tick } = await open();
    await store.save('sp500', 'yahoo', [value(DAY, 100)], at(FINAL_MS));
    const reader = memory();
    await reader.getHistory('sp500');
    const lastDoc = await database.db.collection('observations').findOne({}, { projection: { updatedAt: 1 } });
    const asked: Date[] = [];
    const original = store.readChanged.bind(store);
    store.readChanged = (stream, since) => {
      asked.push(since);
      return original(stream, since);
    };
    tick(5_000);
    await reader.getHistory('sp500');
    expect(asked).toHaveLength(1);
    expect(asked[0].getTime()).toBeGreaterThan(lastDoc!.updatedAt.getTime() - 61_000);
    expect((await reader.getHistory('sp500')).getFirstVersions(Number.MAX_SAFE_INTEGER).days.length).toBe(1);
  });

  it('shows writes to this process immediately and to others within seconds', async () => {
    const { store, memory, tick } = await open();
    const [mine, other] = [memory(), memory()];
    const seen = async (reader: ObservationCache) =>
      (await reader.getHistory('sp500')).getFirstVersions(Number.MAX_SAFE_INTEGER).days.length;
    expect([await seen(mine), await seen(other)]).toEqual([0, 0]);
    await store.save('sp500', 'yahoo', [value(DAY, 100)], at(FINAL_MS));
    await mine.invalidate('sp500');
    expect([await seen(mine), await seen(other)]).toEqual([1, 0]);
    tick(5_000);
    expect(await seen(other)).toBe(1);
  });
});
