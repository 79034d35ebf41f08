import type { Db } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CONTEST_INDEXES, type ContestDeps, createContestDeps } from '../../../src/contest/deps.ts';
import { listRound } from '../../../src/contest/rounds/list-round.ts';
import { MAX_FORECAST_AGE_DAYS, pinOracle } from '../../../src/contest/rounds/pin-oracle.ts';
import { resolveRound } from '../../../src/contest/rounds/resolve-round.ts';
import type { RoundDoc } from '../../../src/contest/rounds/round.ts';
import { VOID_AFTER_DAYS } from '../../../src/contest/rounds/void-round.ts';
import { runContest, scoreRound } from '../../../src/contest/run-contest.ts';
import { type Day, formatDay, toInstantMs } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import type { Market } from '../../../src/market/market.ts';
import { OracleError } from '../../../src/platform/errors.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { ForecastRecord } from '../../../src/record/forecast-record.ts';
import { ModelStore } from '../../../src/record/model-store.ts';
import { timeOf, UNREACHED } from '../../support/clock/trusted-time.ts';
import { contestOptions, contestService } from '../../support/contest/contest-service.ts';

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

function partsWith(market: Partial<Market> = {}): ContestDeps {
  const options = contestOptions(world.service);
  return createContestDeps({
    ...options,
    db,
    record: new ForecastRecord({ db, saltSecret: world.service.http.saltSecret, horizons: HORIZONS }),
    models: new ModelStore(db),
    market: { ...options.market, ...market },
    deployment: { chainId: 84532, identityRegistry: world.service.http.addresses.identityRegistry, agentId: 0 },
    isSignedBy: async () => true,
    isHolder: async () => false,
    time: timeOf(() => new Date(nowMs)),
    now: () => new Date(nowMs),
  });
}

const noClose = () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', '2 of the required 3 venues have a close'));

/** A round that was listed in time and has just opened on that Monday. */
async function openedRound(parts: ContestDeps, monday = world.monday): Promise<RoundDoc> {
  nowMs = toInstantMs(monday - 2);
  const id = (await listRound(parts))!;
  nowMs = toInstantMs(monday);
  return (await parts.rounds.find(id))!;
}

const stored = async (parts: ContestDeps, { _id }: RoundDoc) => (await parts.rounds.find(_id))!;

/** Takes a day's forecast away, as an outage would have. */
async function miss(day: Day): Promise<void> {
  await db.collection<{ _id: string }>('days').updateOne({ _id: formatDay(day) }, { $set: { missedBecause: 'an outage' } });
  await db.collection('forecasts').updateMany({ day }, { $set: { missed: true, state: 'VOID' } });
}

describe('idempotent steps', () => {
  it('take effect once', async () => {
    const parts = partsWith();
    const open = await openedRound(parts);
    expect(await listRound(parts)).not.toBe(open._id);
    await pinOracle(parts, open);
    const running = await stored(parts, open);
    await pinOracle(parts, open);
    expect(await stored(parts, open)).toEqual(running);

    nowMs = toInstantMs(world.monday + 7);
    await resolveRound(parts, running);
    const resolved = await stored(parts, open);
    expect(resolved.state).toBe('RESOLVED');
    nowMs += 60_000;
    await resolveRound(parts, running);
    await pinOracle(parts, open);
    expect(await stored(parts, open)).toEqual(resolved);

    await scoreRound(parts, resolved);
    const scored = await stored(parts, open);
    nowMs += 60_000;
    await scoreRound(parts, resolved);
    await runContest(parts);
    expect(await stored(parts, open)).toEqual(scored);
  });

  it('catch up after an outage of months', async () => {
    const parts = partsWith();
    const open = await openedRound(parts);
    nowMs = toInstantMs(world.monday + 90);
    await runContest(parts);
    const { state, pinned, scoredAt } = await stored(parts, open);
    expect({ state, day: pinned?.day, scored: scoredAt !== null }).toEqual({ state: 'RESOLVED', day: world.monday - 1, scored: true });
  });

  it('do not decide before their time', async () => {
    const parts = partsWith();
    const open = await openedRound(parts);
    await pinOracle(parts, open);
    nowMs = toInstantMs(world.monday + 7) - 1;
    expect(await resolveRound(parts, await stored(parts, open))).toBeNull();
    expect(await stored(parts, open)).toMatchObject({ state: 'RUNNING', outcome: null });
  });
});

describe("the oracle's forecast of a round", () => {
  it('is the newest committed one when the last day was missed', async () => {
    await miss(world.monday - 1);
    const parts = partsWith();
    const open = await openedRound(parts);
    expect(await pinOracle(parts, open)).toBe('pinned');
    expect((await stored(parts, open)).pinned).toMatchObject({ day: world.monday - 2 });
  });

  it('excludes one committed too late', async () => {
    await db.collection('forecasts').updateMany({ day: world.monday - 1 }, { $set: { state: 'VOID' } });
    const parts = partsWith();
    const open = await openedRound(parts);
    await pinOracle(parts, open);
    expect((await stored(parts, open)).pinned).toMatchObject({ day: world.monday - 2 });
  });

  it('waits while the newest one may still be committed', async () => {
    await db.collection('forecasts').updateOne({ day: world.monday - 1, horizonDays: 7 }, { $set: { state: 'DRAFT' } });
    const parts = partsWith();
    const open = await openedRound(parts);
    await expect(pinOracle(parts, open)).rejects.toMatchObject({ code: 'STEP_WAITING' });
    await db.collection('forecasts').updateMany({ day: world.monday - 1 }, { $set: { state: 'PENDING' } });
    await pinOracle(parts, open);
    expect((await stored(parts, open)).pinned).toMatchObject({ day: world.monday - 1 });
  });

  it('waits for the record, and the round is void after too long', async () => {
    const parts = partsWith();
    const beyond = world.monday + 28;
    const open = await openedRound(parts, beyond);
    expect(await runContest(parts)).toContainEqual({ step: 'pin', round: open._id, waiting: expect.stringContaining('not settled') });
    nowMs = toInstantMs(beyond + 7 + VOID_AFTER_DAYS) - 1;
    await expect(pinOracle(parts, open)).rejects.toMatchObject({ code: 'STEP_WAITING' });
    nowMs += 1;
    await runContest(parts);
    expect(await stored(parts, open)).toMatchObject({
      state: 'VOID',
      voidBecause: expect.stringContaining('never completed'),
      outcome: null,
    });
  });
});

describe('void rounds', () => {
  const commitment = (round: RoundDoc) => ({
    ...{ _id: `${round.markets[0].id}:0x1`, market: round.markets[0].id, roundId: round._id, probabilityBps: 5_000, issuedAtMs: 1 },
    ...{ wallet: `0x${'1'.repeat(40)}` as const, signature: '0x01' as const, committedAt: new Date(nowMs) },
  });

  it('have no forecast of the oracle', async () => {
    for (let age = 1; age <= MAX_FORECAST_AGE_DAYS; age++) await miss(world.monday - age);
    const parts = partsWith();
    const open = await openedRound(parts);
    await parts.commitments.upsert(commitment(open), UNREACHED);
    await runContest(parts);
    const round = await stored(parts, open);
    expect(round).toMatchObject({ state: 'VOID', pinned: null, voidBecause: expect.stringContaining('no forecast'), scoredAt: null });
    expect(round.markets[0]).toMatchObject({ commitments: 1, meanBps: 5_000, oracleBps: null, above: null });
    nowMs = toInstantMs(world.monday + 30);
    await runContest(parts);
    expect(await stored(parts, open)).toEqual(round);
    expect(await parts.figures.listStandings({ limit: 10, offset: 0 })).toMatchObject({ total: 0 });
  });

  it('precede the record', async () => {
    const parts = partsWith();
    const open = await openedRound(parts, world.monday - 70);
    await runContest(parts);
    expect(await stored(parts, open)).toMatchObject({ state: 'VOID', voidBecause: expect.stringContaining('no forecast') });
  });

  it('have no quorum close in time', async () => {
    const parts = partsWith({ dailyClose: noClose });
    const open = await openedRound(parts);
    await parts.commitments.upsert(commitment(open), UNREACHED);
    await runContest(parts);
    nowMs = toInstantMs(world.monday + 7 + VOID_AFTER_DAYS) - 1;
    expect(await runContest(parts)).toContainEqual({
      step: 'resolve',
      round: open._id,
      waiting: expect.stringContaining('2 of the required'),
    });
    nowMs += 1;
    await Promise.all([runContest(parts), runContest(parts)]);
    const round = await stored(parts, open);
    expect(round).toMatchObject({ state: 'VOID', outcome: null, voidBecause: 'no close was agreed on', scoredAt: null });
    expect(round.markets.every(({ above }) => above === null)).toBe(true);
    expect(await parts.commitments.countTotals()).toMatchObject({ commitments: 1 });
    expect(await parts.figures.getSummary()).toMatchObject({ scored: 0 });
  });
});

describe('listing fails', () => {
  it('without a price or after the end of the market data, without blocking other steps', async () => {
    nowMs = toInstantMs(world.monday);
    const noPrice = () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', 'The last price is 16 minutes old'));
    expect(await runContest(partsWith({ spot: noPrice }))).toEqual([
      { step: 'list', round: null, waiting: 'The last price is 16 minutes old' },
    ]);
    const ended = async () => ({ firstDay: 0, lastDay: world.monday - 2 });
    expect(await runContest(partsWith({ coverage: ended }))).toEqual([
      { step: 'list', round: null, waiting: expect.stringContaining('ends on') },
    ]);
    expect(await db.collection('contest_rounds').countDocuments()).toBe(0);
    const yesterday = async () => ({ firstDay: 0, lastDay: world.monday - 1 });
    expect(await runContest(partsWith({ coverage: yesterday }))).toEqual([
      { step: 'list', round: null, done: expect.stringContaining('listed') },
    ]);
  });

  it('with an error in the log, without blocking other steps', async () => {
    const parts = partsWith({ dailyClose: () => Promise.reject(new Error('broken')) });
    const open = await openedRound(parts);
    await runContest(parts);
    nowMs = toInstantMs(world.monday + 7);
    const reports = await runContest(parts);
    expect(reports).toContainEqual({ step: 'resolve', round: open._id, failed: 'broken' });
    expect(reports).toContainEqual(expect.objectContaining({ step: 'list', done: expect.stringContaining('listed') }));
  });
});
