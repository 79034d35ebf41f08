import type { Db } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  CONTEST_INDEXES,
  type Contest,
  createContest,
  MAX_FORECAST_AGE_DAYS,
  type RoundDoc,
  VOID_AFTER_DAYS,
} from '../../../src/contest.ts';
import { OracleError } from '../../../src/errors.ts';
import { type Day, formatDay, toInstantMs } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import type { Market } from '../../../src/market/market.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { ForecastRecord } from '../../../src/record/forecasts.ts';
import { ModelStore } from '../../../src/record/model-card.ts';
import { timeOf } from '../../support/clock/trusted-time.ts';
import { contestService } from '../../support/contest/contest-service.ts';

let world: Awaited<ReturnType<typeof contestService>>;
let db: Db;
let nowMs: number;
let names = 0;

beforeAll(async () => {
  world = await contestService();
  await world.finishRecord();
});
afterAll(() => world.stop());

/** Each test on a copy of the record, so that it may be damaged. */
beforeEach(async () => {
  const { db: source, client } = world.service.database;
  names += 1;
  db = client.db(`contest_${names}`);
  await ensureIndexes(db, CONTEST_INDEXES);
  for (const name of ['days', 'forecasts', 'models', 'record_meta']) {
    await db.collection(name).insertMany(await source.collection(name).find().toArray());
  }
});

function contestWith(market: Partial<Market> = {}): Contest {
  const options = world.service.http;
  return createContest({
    ...options,
    db,
    record: new ForecastRecord({ db, saltSecret: world.service.http.saltSecret, horizons: HORIZONS }),
    models: new ModelStore(db),
    market: { ...options.market, ...market },
    deployment: { chainId: 84532, identityRegistry: world.service.http.chain.addresses.identityRegistry, agentId: 0 },
    isSignedBy: async () => true,
    isHolder: async () => false,
    time: timeOf(() => new Date(nowMs)),
    now: () => new Date(nowMs),
  });
}

const rounds = () => db.collection<RoundDoc>('contest_rounds');
const stored = async ({ _id }: Pick<RoundDoc, '_id'>) => (await rounds().findOne({ _id }))!;
const noClose = () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', '2 of the required 3 venues have a close'));

/** A round that was listed in time, with a commitment to its lowest market; the clock is at its end. */
async function endedRound(contest: Contest, monday = world.monday): Promise<RoundDoc> {
  nowMs = toInstantMs(monday - 2);
  await contest.run();
  const round = (await rounds().findOne({ opensAt: new Date(toInstantMs(monday)) }))!;
  const wallet = `0x${'1'.repeat(40)}` as const;
  await contest.commit({ market: round.markets[0].id, wallet, probabilityBps: 5_000, issuedAtMs: nowMs, signature: '0x01' }, '192.0.2.1');
  nowMs = toInstantMs(monday + 7);
  return round;
}

/** What the steps of a round report. */
const reportsOf = async (contest: Contest, { _id }: RoundDoc) => (await contest.run()).filter(({ round }) => round === _id);

/** Takes a day's forecast away, as an outage would have. */
async function miss(day: Day): Promise<void> {
  await db.collection<{ _id: string }>('days').updateOne({ _id: formatDay(day) }, { $set: { missedBecause: 'an outage' } });
  await db.collection('forecasts').updateMany({ day }, { $set: { missed: true, state: 'VOID' } });
}

describe('a round', () => {
  it('is decided and scored once, not before its time', async () => {
    const contest = contestWith();
    const open = await endedRound(contest);
    nowMs -= 1;
    expect(await reportsOf(contest, open)).toEqual([]);
    nowMs += 1;
    await Promise.all([contest.run(), contest.run()]);
    const resolved = await stored(open);
    expect(resolved).toMatchObject({ state: 'RESOLVED', pinned: { day: world.monday - 1 }, rankedAt: new Date(nowMs) });
    nowMs += 60_000;
    expect(await reportsOf(contest, open)).toEqual([]);
    expect(await stored(open)).toEqual(resolved);
  });

  it('is decided and scored after an outage of months', async () => {
    const contest = contestWith();
    const open = await endedRound(contest);
    nowMs = toInstantMs(world.monday + 90);
    await contest.run();
    expect(await stored(open)).toMatchObject({ state: 'RESOLVED', pinned: { day: world.monday - 1 }, rankedAt: new Date(nowMs) });
  });

  it('is decided when an earlier version had begun it', async () => {
    const contest = contestWith();
    const { _id } = await endedRound(contest);
    const pinned = { day: world.monday - 1, forecastAt: new Date(nowMs), modelVersion: 'm0', pinnedAt: new Date(nowMs) };
    await db
      .collection<{ _id: string }>('contest_rounds')
      .updateOne({ _id }, { $set: { state: 'RUNNING', pinned }, $unset: { rankedAt: 1 } });
    nowMs -= 1;
    expect((await contest.getStatus()).running).toMatchObject([{ round: _id }]);
    nowMs += 1;
    await contest.run();
    expect(await stored({ _id })).toMatchObject({ state: 'RESOLVED', pinned: { day: world.monday - 1 }, rankedAt: new Date(nowMs) });
  });
});

describe("the oracle's forecast of a round", () => {
  it('is the newest committed one when the last day was missed', async () => {
    await miss(world.monday - 1);
    const contest = contestWith();
    const open = await endedRound(contest);
    await contest.run();
    expect(await stored(open)).toMatchObject({ state: 'RESOLVED', pinned: { day: world.monday - 2 } });
  });

  it('excludes one committed too late', async () => {
    await db.collection('forecasts').updateMany({ day: world.monday - 1 }, { $set: { state: 'VOID' } });
    const contest = contestWith();
    const open = await endedRound(contest);
    await contest.run();
    expect(await stored(open)).toMatchObject({ state: 'RESOLVED', pinned: { day: world.monday - 2 } });
  });

  it('waits while the newest one may still be committed', async () => {
    const ofLastDay = { day: world.monday - 1, horizonDays: 7 };
    const { state } = (await db.collection('forecasts').findOne(ofLastDay))!;
    await db.collection('forecasts').updateOne(ofLastDay, { $set: { state: 'DRAFT' } });
    const contest = contestWith();
    const open = await endedRound(contest);
    expect(await reportsOf(contest, open)).toMatchObject([{ step: 'resolve', waiting: expect.stringContaining('not settled') }]);
    await db.collection('forecasts').updateOne(ofLastDay, { $set: { state } });
    await contest.run();
    expect((await stored(open)).pinned).toMatchObject({ day: world.monday - 1 });
  });
});

describe('a round is void', () => {
  it('when the record is not completed in time', async () => {
    const contest = contestWith();
    const beyond = world.monday + 28;
    const open = await endedRound(contest, beyond);
    nowMs = toInstantMs(beyond + 7 + VOID_AFTER_DAYS) - 1;
    expect(await reportsOf(contest, open)).toMatchObject([{ step: 'resolve', waiting: expect.stringContaining('not settled') }]);
    nowMs += 1;
    await contest.run();
    expect(await stored(open)).toMatchObject({ state: 'VOID', voidBecause: expect.stringContaining('never completed'), outcome: null });
  });

  it('when the oracle had no forecast', async () => {
    for (let age = 1; age <= MAX_FORECAST_AGE_DAYS; age++) await miss(world.monday - age);
    const contest = contestWith();
    const open = await endedRound(contest);
    await contest.run();
    const round = await stored(open);
    expect(round).toMatchObject({ state: 'VOID', pinned: null, voidBecause: expect.stringContaining('no forecast'), rankedAt: null });
    nowMs = toInstantMs(world.monday + 30);
    await contest.run();
    expect(await stored(open)).toEqual(round);
    expect(await contest.listStandings({ limit: 10, offset: 0 })).toEqual({ standings: [], total: 0 });
  });

  it('when it precedes the record', async () => {
    const contest = contestWith();
    const open = await endedRound(contest, world.monday - 70);
    await contest.run();
    expect(await stored(open)).toMatchObject({ state: 'VOID', voidBecause: expect.stringContaining('no forecast') });
  });

  it('when no quorum close is agreed on in time', async () => {
    const contest = contestWith({ dailyClose: noClose });
    const open = await endedRound(contest);
    nowMs = toInstantMs(world.monday + 7 + VOID_AFTER_DAYS) - 1;
    expect(await reportsOf(contest, open)).toMatchObject([{ step: 'resolve', waiting: expect.stringContaining('2 of the required') }]);
    nowMs += 1;
    await Promise.all([contest.run(), contest.run()]);
    expect(await stored(open)).toMatchObject({ state: 'VOID', outcome: null, voidBecause: 'no close was agreed on', rankedAt: null });
    const view = (await contest.listRounds({ limit: 10, offset: 0 })).rounds.find(({ round }) => round === open._id)!;
    expect(view).toMatchObject({ state: 'VOID', close: null, oracleForecastDate: null });
    for (const market of view.markets) expect(market).toMatchObject({ outcome: null, oracleProbability: null });
    expect(await contest.listStandings({ limit: 10, offset: 0 })).toEqual({ standings: [], total: 0 });
  });
});

describe('listing', () => {
  it('waits without a price and after the end of the market data', async () => {
    nowMs = toInstantMs(world.monday);
    const noPrice = () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', 'The last price is 16 minutes old'));
    expect(await contestWith({ spot: noPrice }).run()).toEqual([
      { step: 'list', round: null, waiting: 'The last price is 16 minutes old' },
    ]);
    const ended = async () => ({ firstDay: 0, lastDay: world.monday - 2 });
    expect(await contestWith({ coverage: ended }).run()).toEqual([
      { step: 'list', round: null, waiting: expect.stringContaining('ends on') },
    ]);
    expect(await rounds().countDocuments()).toBe(0);
    const yesterday = async () => ({ firstDay: 0, lastDay: world.monday - 1 });
    expect(await contestWith({ coverage: yesterday }).run()).toEqual([
      { step: 'list', round: null, done: expect.stringContaining('listed') },
    ]);
  });

  it('is not blocked by a step that fails', async () => {
    const contest = contestWith({ dailyClose: () => Promise.reject(new Error('broken')) });
    const open = await endedRound(contest);
    const reports = await contest.run();
    expect(reports).toContainEqual({ step: 'resolve', round: open._id, failed: 'broken' });
    expect(reports).toContainEqual(expect.objectContaining({ step: 'list', done: expect.stringContaining('listed') }));
  });
});
