import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RoundDoc } from '../../../src/contest/rounds/round.ts';
import { scoreCommitment, toContestBps } from '../../../src/contest/scoring/score.ts';
import { formatDay, toInstantMs } from '../../../src/forecast/day.ts';
import { computeStrikeProbability } from '../../../src/record/market/strike-probability.ts';
import { COMMITMENTS, contestDoor, LEADERBOARD, MARKETS, STATUS, signedCommitment } from '../../support/contest/contest-api.ts';
import { contestService } from '../../support/contest/contest-service.ts';

let world: Awaited<ReturnType<typeof contestService>>;
let markets: string[];
const [alice, bob, carol] = Array.from({ length: 3 }, () => privateKeyToAccount(generatePrivateKey()));
const { get, post } = contestDoor(() => world.served.url);

beforeAll(async () => {
  world = await contestService();
});
afterAll(() => world.stop());

const rounds = () => world.service.database.db.collection<RoundDoc>('contest_rounds');

describe('before the deadline', () => {
  it('lists a round once with two workers, with strikes around the price', async () => {
    const empty = await get(STATUS);
    expect(empty).toMatchObject({ openRound: null, runningRounds: [], counts: { rounds: { open: 0, running: 0, resolved: 0, void: 0 } } });
    await Promise.all([world.contest.run(), world.contest.run()]);
    expect(await world.contest.run()).toEqual([]);
    expect(await rounds().countDocuments()).toBe(1);
    const { openRound, signing, rules } = await get(STATUS);
    expect(openRound).toMatchObject({
      state: 'OPEN',
      deadline: new Date(toInstantMs(world.monday)).toISOString(),
      resolvesAt: new Date(toInstantMs(world.monday + 7)).toISOString(),
      decidingDate: formatDay(world.monday + 6),
      listingSource: 'simulated (seed 2)',
    });
    const { priceUsd } = await world.service.http.market.spot(world.clock.ms);
    const strikes: number[] = openRound.markets.map(({ strikeUsd }: { strikeUsd: number }) => strikeUsd);
    expect(openRound.listingPrice).toBe(priceUsd);
    expect(strikes[0]).toBeLessThan(priceUsd);
    expect(strikes.at(-1)).toBeGreaterThan(priceUsd);
    expect(rules.statements.length).toBeGreaterThan(5);
    const { identityRegistry } = world.service.http.addresses;
    expect(signing.domain).toMatchObject({ chainId: 84532, verifyingContract: identityRegistry, salt: `0x${'0'.repeat(64)}` });
    markets = openRound.markets.map(({ market }: { market: string }) => market);
  });

  it('counts commitments immediately', async () => {
    const { domain } = (await get(STATUS)).signing;
    const said = [
      [alice, 1, 6_217],
      [bob, 0, 1_011],
      [bob, 1, 4_444],
      [carol, 2, 5_001],
    ] as const;
    for (const [at, [account, index, probabilityBps]] of said.entries()) {
      const values = { market: markets[index], probabilityBps, issuedAtMs: world.clock.ms };
      expect(await post(await signedCommitment(domain, account, values))).toMatchObject({ status: 200 });
      expect((await get(STATUS)).counts).toMatchObject({ commitments: at + 1, scored: 0 });
    }
    expect((await get(STATUS)).counts).toMatchObject({ wallets: 3 });
  });
});

describe('after the deadline', () => {
  it("pins the oracle's probabilities once with two workers, from the previous forecast", async () => {
    world.clock.ms = toInstantMs(world.monday);
    await Promise.all([world.contest.run(), world.contest.run()]);
    const round = (await rounds().findOne({ state: 'RUNNING' }))!;
    const { record, models } = world.service.http;
    const day = (await record.findDay(world.monday - 1))!;
    const model = await models.get(day.modelVersion!);
    expect(round.pinned).toMatchObject({ day: world.monday - 1, modelVersion: day.modelVersion });
    const { resolvesAt: expiresAt } = round;
    for (const { strikeUsd, oracleBps } of round.markets) {
      expect(oracleBps).toBe(toContestBps(computeStrikeProbability({ day, model, strikeUsd, expiresAt, at: day.signalAt })));
    }
    const ladder = round.markets.map(({ oracleBps }) => oracleBps!);
    expect(ladder).toEqual(ladder.toSorted((a, b) => b - a));
    await world.contest.run();
    expect(await rounds().findOne({ _id: round._id })).toEqual(round);
  });

  it('serves nothing that depends on them', async () => {
    const paths = [STATUS, MARKETS, LEADERBOARD, `${COMMITMENTS}?market=${markets[1]}`];
    const answers = async () => {
      // Nothing that is kept for a minute.
      world.clock.ms += 60_000;
      const bodies = await Promise.all(paths.map((path) => get(path)));
      return bodies.map((body) => ({ ...body, timestamp: null }));
    };
    const round = (await rounds().findOne({ state: 'RUNNING' }))!;
    const before = await answers();
    const others = round.markets.map((market) => ({ ...market, oracleBps: 10_000 - market.oracleBps! }));
    await rounds().updateOne({ _id: round._id }, { $set: { markets: others } });
    expect(await answers()).toEqual(before);
    await rounds().updateOne({ _id: round._id }, { $set: { markets: round.markets } });
  });
});

describe('after the week', () => {
  it('waits until the pinned forecasts are revealed', async () => {
    world.clock.ms = toInstantMs(world.monday + 7);
    const reports = await world.contest.run();
    expect(reports).toContainEqual({ step: 'resolve', round: markets[0].slice(0, 8), waiting: expect.stringContaining('revealed') });
    const { runningRounds } = await get(STATUS);
    expect(runningRounds[0]).toMatchObject({ state: 'RUNNING', close: null, oracleMeanBrier: null });
  });

  it('resolves by the quorum close and scores once', async () => {
    await world.finishRecord();
    await Promise.all([world.contest.run(), world.contest.run()]);
    const round = (await rounds().findOne({ _id: markets[0].slice(0, 8) }))!;
    const { priceUsd } = await world.service.http.market.dailyClose(world.monday + 6, world.clock.ms);
    expect(round).toMatchObject({ state: 'RESOLVED', outcome: { closeCents: Math.round(priceUsd * 100) } });
    expect(round.scoredAt).not.toBeNull();
    for (const { strikeUsd, above } of round.markets) expect(above).toBe(priceUsd > strikeUsd);
    const { rounds: listed } = await get(MARKETS);
    const view = listed.find(({ state }: { state: string }) => state === 'RESOLVED');
    expect(view).toMatchObject({ scored: true, close: Math.round(priceUsd * 100) / 100, oracleForecastDate: formatDay(world.monday - 1) });
    expect(view.markets.map(({ oracleProbability }: { oracleProbability: number }) => Math.round(oracleProbability * 10_000))).toEqual(
      round.markets.map(({ oracleBps }) => oracleBps),
    );
  });

  it('sums scores on the leaderboard', async () => {
    world.clock.ms += 60_000;
    const round = (await rounds().findOne({ state: 'RESOLVED' }))!;
    const pointsOf = (index: number, walletBps: number) => {
      const { oracleBps, above } = round.markets[index];
      return scoreCommitment({ walletBps, oracleBps: oracleBps!, above: above! }).points;
    };
    const { leaderboard, total, ranked, count, note } = await get(LEADERBOARD);
    expect({ total, ranked, count }).toEqual({ total: 3, ranked: 0, count: 3 });
    expect(note).toContain('4 scored rounds');
    const of = (address: string) => leaderboard.find(({ wallet }: { wallet: string }) => wallet === address);
    expect(of(alice.address)).toMatchObject({ rank: null, points: pointsOf(1, 6_217), rounds: 1, commitments: 1, interval: null });
    expect(of(bob.address)).toMatchObject({ points: pointsOf(0, 1_011) + pointsOf(1, 4_444), rounds: 1, commitments: 2 });
    const differences = leaderboard.map(({ meanDifference }: { meanDifference: number }) => meanDifference);
    expect(differences).toEqual(differences.toSorted((a: number, b: number) => b - a));
    const { commitments } = await get(`${COMMITMENTS}?market=${markets[1]}`);
    for (const one of commitments) expect(one.points).toBe(pointsOf(1, one.probabilityBps));
    const status = await get(STATUS);
    // The round that was open then is running now, and the one after it is open.
    expect(status.counts).toEqual({ rounds: { open: 1, running: 1, resolved: 1, void: 0 }, commitments: 4, scored: 4, wallets: 3 });
  });

  it('scores every commitment once after a crash between resolution and scoring', async () => {
    const commitments = world.service.database.db.collection<{ _id: string; score: unknown }>('contest_commitments');
    const before = await commitments.find().sort({ _id: 1 }).toArray();
    await commitments.updateMany({ wallet: bob.address as never }, { $set: { score: null } });
    await rounds().updateOne({ state: 'RESOLVED' }, { $set: { scoredAt: null } });
    await Promise.all([world.contest.run(), world.contest.run()]);
    expect(await commitments.find().sort({ _id: 1 }).toArray()).toEqual(before);
    expect((await rounds().findOne({ state: 'RESOLVED' }))!.scoredAt).not.toBeNull();
  });
});
