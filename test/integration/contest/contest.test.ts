import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RoundDoc, scoreCommitment, toContestBps } from '../../../src/contest.ts';
import { formatDay, toInstantMs } from '../../../src/forecast/day.ts';
import { computeStrikeProbability } from '../../../src/record/market.ts';
import { contestDoor, LEADERBOARD, MARKETS, STATUS, signedCommitment } from '../../support/contest/contest-api.ts';
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
    expect(empty).toMatchObject({ openRound: null, runningRounds: [], counts: { resolved: 0, void: 0, commitments: 0 } });
    await Promise.all([world.contest.run(), world.contest.run()]);
    expect(await world.contest.run()).toEqual([]);
    expect(await rounds().countDocuments()).toBe(1);
    const { openRound, signing, rules } = await get(STATUS);
    expect(openRound).toMatchObject({
      state: 'OPEN',
      deadline: new Date(toInstantMs(world.monday)).toISOString(),
      resolvesAt: new Date(toInstantMs(world.monday + 7)).toISOString(),
      decidingDate: formatDay(world.monday + 6),
    });
    const { priceUsd } = await world.service.http.market.spot(world.clock.ms);
    const strikes: number[] = openRound.markets.map(({ strikeUsd }: { strikeUsd: number }) => strikeUsd);
    expect(openRound.listingPrice).toBe(priceUsd);
    expect(strikes[0]).toBeLessThan(priceUsd);
    expect(strikes.at(-1)).toBeGreaterThan(priceUsd);
    expect(rules.length).toBeGreaterThan(5);
    const { identityRegistry } = world.service.http.chain.addresses;
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
      expect((await get(STATUS)).counts).toMatchObject({ commitments: at + 1 });
    }
  });
});

describe('after the deadline', () => {
  it('runs without storing or serving anything of the oracle or of a wallet', async () => {
    const before = await rounds().findOne();
    world.clock.ms = toInstantMs(world.monday);
    await Promise.all([world.contest.run(), world.contest.run()]);
    expect(await rounds().findOne({ _id: before!._id })).toEqual(before);
    const { openRound, runningRounds } = await get(STATUS);
    expect(openRound.deadline).toBe(new Date(toInstantMs(world.monday + 7)).toISOString());
    expect(runningRounds).toMatchObject([{ state: 'RUNNING', close: null, oracleForecastDate: null }]);
    for (const market of runningRounds[0].markets)
      expect(market).toMatchObject({ outcome: null, oracleProbability: null, oracleBrier: null });
    for (const path of [STATUS, MARKETS, LEADERBOARD]) {
      const text = JSON.stringify(await get(path));
      for (const secret of ['6217', '0.6217', alice.address]) expect(text, path).not.toContain(secret);
    }
  });
});

describe('after the week', () => {
  it('waits until the pinned forecasts are revealed', async () => {
    world.clock.ms = toInstantMs(world.monday + 7);
    const reports = await world.contest.run();
    expect(reports).toContainEqual({ step: 'resolve', round: markets[0].slice(0, 8), waiting: expect.stringContaining('revealed') });
    const { runningRounds } = await get(STATUS);
    expect(runningRounds[0]).toMatchObject({ state: 'RUNNING', close: null });
  });

  it("resolves by the quorum close and the oracle's newest forecast before the deadline, once with two workers", async () => {
    await world.finishRecord();
    await Promise.all([world.contest.run(), world.contest.run()]);
    const round = (await rounds().findOne({ _id: markets[0].slice(0, 8) }))!;
    const { priceUsd } = await world.service.http.market.dailyClose(world.monday + 6, world.clock.ms);
    expect(round).toMatchObject({ state: 'RESOLVED', outcome: { closeCents: Math.round(priceUsd * 100) } });
    const { record, models } = world.service.http;
    const day = (await record.findDay(world.monday - 1))!;
    const model = await models.get(day.modelVersion!);
    for (const { strikeUsd, above, oracleBps } of round.markets) {
      expect(above).toBe(priceUsd > strikeUsd);
      const probability = computeStrikeProbability({ day, model, strikeUsd, expiresAt: round.resolvesAt, at: day.signalAt });
      expect(oracleBps).toBe(toContestBps(probability));
    }
    const ladder = round.markets.map(({ oracleBps }) => oracleBps!);
    expect(ladder).toEqual(ladder.toSorted((a, b) => b - a));
    const { rounds: listed } = await get(MARKETS);
    const view = listed.find(({ state }: { state: string }) => state === 'RESOLVED');
    expect(view).toMatchObject({ close: Math.round(priceUsd * 100) / 100, oracleForecastDate: formatDay(world.monday - 1) });
    expect(view.markets.map(({ oracleProbability }: { oracleProbability: number }) => Math.round(oracleProbability * 10_000))).toEqual(
      round.markets.map(({ oracleBps }) => oracleBps),
    );
  });

  it('sums scores on the leaderboard', async () => {
    const round = (await rounds().findOne({ state: 'RESOLVED' }))!;
    const pointsOf = (index: number, walletBps: number) => {
      const { oracleBps, above } = round.markets[index];
      return scoreCommitment({ walletBps, oracleBps: oracleBps!, above: above! }).points;
    };
    const { leaderboard, total, count, note } = await get(LEADERBOARD);
    expect({ total, count }).toEqual({ total: 3, count: 3 });
    expect(note).toContain('4 scored rounds');
    const of = (address: string) => leaderboard.find(({ wallet }: { wallet: string }) => wallet === address);
    expect(of(alice.address)).toMatchObject({ rank: null, points: pointsOf(1, 6_217), rounds: 1 });
    expect(of(bob.address)).toMatchObject({ points: pointsOf(0, 1_011) + pointsOf(1, 4_444), rounds: 1 });
    const differences = leaderboard.map(({ meanDifference }: { meanDifference: number }) => meanDifference);
    expect(differences).toEqual(differences.toSorted((a: number, b: number) => b - a));
    const status = await get(STATUS);
    // The round that was open then is running now, and the one after it is open.
    expect(status).toMatchObject({ counts: { resolved: 1, void: 0, commitments: 4 }, runningRounds: [{ state: 'RUNNING' }] });
  });
});
