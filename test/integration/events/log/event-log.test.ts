import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnyEventDraft, EVENT_INDEXES, EVENT_RETENTION_DAYS, EventLog, followEvents } from '../../../../src/events/log.ts';
import { DAY_MS } from '../../../../src/forecast/day.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

const now = new Date('2026-03-10T00:00:00Z');
const quiet = createLog({ level: 'silent', secrets: [] });

let database: TestDatabase;
let log: EventLog;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, EVENT_INDEXES);
  log = new EventLog(database.db);
});

function draft(key: string, at = now): AnyEventDraft {
  const content = { date: '2026-03-09', from: 'CHOP', to: 'BULL_TREND', at, replayed: false } as const;
  return { type: 'regime.changed', key, at, horizonDays: null, wallet: null, content };
}

const drafts = (from: number, count: number) => Array.from({ length: count }, (_, index) => draft(`e${from + index}`));
const idsAndKeys = async () => (await log.after(0, 10_000)).map(({ _id, key }): [number, string] => [_id, key]);
const withoutGap = (ids: number[]) => ids.every((id, index) => index === 0 || id === ids[index - 1] + 1);

describe('the event log', () => {
  it('counts from 1, and takes the same occurrence once', async () => {
    expect(await log.append(drafts(0, 3), now)).toBe(3);
    expect(await log.append(drafts(1, 3), now)).toBe(1);
    expect(await log.append([], now)).toBe(0);
    expect(await idsAndKeys()).toEqual([
      [1, 'e0'],
      [2, 'e1'],
      [3, 'e2'],
      [4, 'e3'],
    ]);
    expect(await log.lastId()).toBe(4);
  });

  it('has no gap at any moment while many processes write the same and other events', async () => {
    const writers = Array.from({ length: 8 }, (_, writer) => drafts(writer * 10, 30));
    let writing = true;
    const seen: number[][] = [];
    const reading = (async () => {
      while (writing) seen.push((await log.after(0, 10_000)).map(({ _id }) => _id));
    })();
    const appended = await Promise.all(writers.map((own) => new EventLog(database.db).append(own, now)));
    writing = false;
    await reading;

    expect(appended.reduce((sum, count) => sum + count, 0)).toBe(100);
    const all = await idsAndKeys();
    expect(all.map(([id]) => id)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    expect(new Set(all.map(([, key]) => key)).size).toBe(100);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.every((ids) => withoutGap([0, ...ids]))).toBe(true);
    // Events of one process keep their order.
    const own = all.map(([, key]) => Number(key.slice(1))).filter((key) => key < 10);
    expect(own).toEqual([...own].sort((a, b) => a - b));
  });

  it('forgets what is too old from the beginning on, and goes on counting', async () => {
    const old = new Date(now.getTime() - EVENT_RETENTION_DAYS * DAY_MS - 1);
    await log.append([draft('a', old), draft('b', old), draft('c'), draft('late', old), draft('d')], now);
    await log.purge(now);
    // One that came late stays between younger ones: a hole would look like a loss.
    expect((await idsAndKeys()).map(([, key]) => key)).toEqual(['c', 'late', 'd']);
    expect(await log.firstId()).toBe(3);

    await log.purge(new Date(now.getTime() + 1_000 * DAY_MS));
    expect(await idsAndKeys()).toEqual([[5, 'd']]);
    await log.append([draft('e')], now);
    expect(await log.lastId()).toBe(6);
  });
});

describe('following the log', () => {
  it('delivers each event of all processes once, in order, from the current end', async () => {
    await log.append(drafts(0, 5), now);
    const stop = new AbortController();
    const seen: number[] = [];
    const all = Promise.withResolvers<void>();
    let failures = 1;
    const listener = (events: readonly { _id: number }[]) => {
      if (failures-- > 0) throw new Error('the listener is not ready');
      seen.push(...events.map(({ _id }) => _id));
      if (seen.length >= 40) all.resolve();
    };
    const tail = await followEvents({ events: log, listener, log: quiet, signal: stop.signal }, { pollMs: 5, failurePauseMs: 5 });
    const elsewhere = new EventLog(database.db);
    await Promise.all([elsewhere.append(drafts(100, 20), now), log.append(drafts(200, 20), now)]);
    tail.wake();
    await all.promise;
    expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index + 6));
    stop.abort();
    await tail.ended;
    expect(tail.getSeenId()).toBe(45);
  });
});
