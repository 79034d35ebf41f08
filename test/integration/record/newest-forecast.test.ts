import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Caller, PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import { type Day, parseDay } from '../../../src/forecast/day.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { countRevealedCalls } from '../../../src/record/figures.ts';
import { createNewestForecastReader, ForecastRecord, RECORD_INDEXES } from '../../../src/record/forecasts.ts';
import { readPublicPrediction } from '../../../src/record/prediction.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { buildTestDay } from '../../unit/record/day-fixture.ts';
import { buildTestForecast, type TestForecastOptions } from '../../unit/record/forecast-fixture.ts';

const FIRST = parseDay('2026-01-05');

let database: TestDatabase;
let record: ForecastRecord;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, RECORD_INDEXES);
  record = new ForecastRecord({ db: database.db, saltSecret: 'a master secret of a test', horizons: [7] });
});

async function write(date: string, options: TestForecastOptions = {}, context: { fearGreed: number } = { fearGreed: 50 }): Promise<void> {
  const forecast = buildTestForecast({ date, ...options });
  const figures = { context: { ...context, fearGreedLabel: null, etfFlows7dUsd: null }, inputsDigest: forecast.inputsDigest };
  await record.days.insertOne(buildTestDay(parseDay(date), figures));
  await record.forecasts.insertOne(forecast);
}

/** Counts the reads of a record. */
function counted() {
  const reads = { latest: 0, day: 0 };
  const newest = createNewestForecastReader({
    findLatest(horizonDays: number) {
      reads.latest += 1;
      return record.findLatest(horizonDays);
    },
    findDay(day: Day) {
      reads.day += 1;
      return record.findDay(day);
    },
  });
  return { reads, newest };
}

const STATISTICS = {
  figures: {
    getHorizon: async () => ({ revealedCalls: countRevealedCalls([]), summary: {}, winRate: {}, moveSkill: { n: 0 } }),
  },
} as never;

const signalFor = (caller: Caller) =>
  readPublicPrediction(
    {
      ...{ record, statistics: STATISTICS, market: { source: 'test' }, models: {} },
      viewFor: () => ({ caller, policy: 'resolution', now: new Date(0) }),
    } as never,
    7,
    caller,
  );

it('is null before the first, then of the newest day', async () => {
  expect(await record.findNewest(7)).toBeNull();
  await write('2026-01-05');
  await write('2026-01-06', {}, { fearGreed: 61 });
  const newest = (await record.findNewest(7))!;
  expect(newest.forecast.day).toBe(FIRST + 1);
  expect(newest.figures).toMatchObject({ price: { cents: 10_000_000 }, context: { fearGreed: 61 } });
  expect(await record.findNewest(2)).toBeNull();
});

it('takes two reads for a hundred concurrent callers, one of them for the day', async () => {
  await write('2026-01-05');
  const { reads, newest } = counted();
  const answers = await Promise.all(Array.from({ length: 100 }, () => newest(7)));
  expect(answers.every((answer) => answer?.forecast.day === FIRST)).toBe(true);
  expect(reads).toEqual({ latest: 2, day: 1 });
  await newest(7);
  expect(reads).toEqual({ latest: 3, day: 1 });
});

it('includes everything written before the call, regardless of concurrency', async () => {
  await write('2026-01-05', { state: 'DRAFT' });
  const { newest } = counted();
  const requests: Promise<void>[] = [];
  for (let cents = 100; cents < 130; cents++) {
    await record.forecasts.updateOne({ day: FIRST }, { $set: { btcAtSignalCents: cents } });
    const check = async () => expect((await newest(7))!.forecast.btcAtSignalCents).toBeGreaterThanOrEqual(cents);
    requests.push(check(), check(), check());
  }
  await Promise.all(requests);
  await write('2026-01-06', {}, { fearGreed: 62 });
  const after = await Promise.all([newest(7), newest(7)]);
  expect(after.map((answer) => [answer?.forecast.day, answer?.figures.context?.fearGreed])).toEqual([
    [FIRST + 1, 62],
    [FIRST + 1, 62],
  ]);
});

it('reads the figures again when a day has other inputs', async () => {
  await write('2026-01-05', {}, { fearGreed: 10 });
  expect((await record.findNewest(7))?.figures.context?.fearGreed).toBe(10);
  const inputsDigest = `0x${'2'.repeat(64)}` as const;
  await record.days.updateOne({ day: FIRST }, { $set: { inputsDigest, 'context.fearGreed': 20 } });
  await record.forecasts.updateOne({ day: FIRST }, { $set: { inputsDigest } });
  expect((await record.findNewest(7))?.figures.context?.fearGreed).toBe(20);
});

it('cuts a shared read to what each caller may read', async () => {
  await write('2026-01-05');
  const callers: Caller[] = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? PUBLIC_CALLER : { tier: 'basic' }));
  const signals = await Promise.all(callers.map(signalFor));
  for (const [index, { signal, direction, confidence }] of signals.entries()) {
    const gated = { signal: 'GATED', direction: null, confidence: null };
    const readable = { signal: 'BUY', direction: 'UP', confidence: 0.5876 };
    expect({ signal, direction, confidence }).toEqual(index % 2 === 0 ? gated : readable);
  }
});
