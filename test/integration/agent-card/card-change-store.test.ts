import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CardChangeStore } from '../../../agent-card/card.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let nowMs: number;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  nowMs = Date.parse('2026-08-20T10:00:00.700Z');
  await database.db.collection('card_changes').deleteMany({});
});

const changes = () => new CardChangeStore({ db: database.db, now: () => new Date(nowMs) });

describe('the time of the last change of the card', () => {
  it('is the second at which a tag was recorded first, for every process', async () => {
    const first = await Promise.all(Array.from({ length: 8 }, () => changes().record('"a"')));
    expect(new Set(first.map((date) => date.toISOString()))).toEqual(new Set(['2026-08-20T10:00:00.000Z']));
    nowMs += 60_000;
    expect(await changes().record('"a"')).toEqual(first[0]);
    expect(await database.db.collection('card_changes').countDocuments()).toBe(1);
  });

  it('moves on with another tag, also back to an earlier one', async () => {
    await changes().record('"a"');
    nowMs += 60_000;
    expect((await changes().record('"b"')).toISOString()).toBe('2026-08-20T10:01:00.000Z');
    nowMs += 60_000;
    expect((await changes().record('"a"')).toISOString()).toBe('2026-08-20T10:02:00.000Z');
  });
});
