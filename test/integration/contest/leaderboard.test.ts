import { getAddress, pad, toHex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  CONTEST_INDEXES,
  type CommitmentDoc,
  createContest,
  MIN_RANKED_ROUNDS,
  type RoundDoc,
  type StandingDoc,
  scoreCommitment,
} from '../../../src/contest.ts';
import { OracleError } from '../../../src/errors.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { timeAt } from '../../support/clock/trusted-time.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

const NOW = Date.UTC(2026, 11, 1);
const ORACLE_BPS = 6_000;
const ROUNDS = Array.from({ length: MIN_RANKED_ROUNDS }, (_, index) => `2026-W${10 + index}`);
const PAGE = { limit: 100, offset: 0 };

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, CONTEST_INDEXES);
});

/** A worker that lists and decides nothing: no price is there. */
const openWorker = () =>
  createContest({
    db: database.db,
    market: { coverage: () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', 'no price')) },
    time: timeAt(NOW),
    now: () => new Date(NOW),
    log: { debug: () => {}, error: () => {} },
  } as unknown as Parameters<typeof createContest>[0]);

const rounds = () => database.db.collection<RoundDoc>('contest_rounds');
const commitments = () => database.db.collection<CommitmentDoc>('contest_commitments');
const walletOf = (n: number) => getAddress(pad(toHex(n), { size: 20 }));

/** A decided round of five markets that are all above. */
async function resolve(round: string): Promise<void> {
  const markets = [1, 2, 3, 4, 5].map((strike) => ({ id: `${round}-${strike}`, strikeUsd: strike, oracleBps: ORACLE_BPS, above: true }));
  await rounds().insertOne({ _id: round, state: 'RESOLVED', markets, rankedAt: null } as unknown as RoundDoc);
}

async function commit(entries: { who: number; round: string; strike?: number; probabilityBps: number }[]): Promise<void> {
  const docs = entries.map(({ who, round, strike = 1, probabilityBps }) => {
    const market = `${round}-${strike}`;
    const wallet = walletOf(who);
    return { _id: `${market}:${wallet.toLowerCase()}`, market, wallet, probabilityBps } as CommitmentDoc;
  });
  await commitments().insertMany(docs);
}

const score = (walletBps: number) => scoreCommitment({ walletBps, oracleBps: ORACLE_BPS, above: true });

describe('the leaderboard', () => {
  it('is empty without a decided round', async () => {
    expect(await openWorker().listStandings(PAGE)).toEqual({ standings: [], total: 0 });
  });

  it('ranks wallets by their mean over rounds, and after them those with too few rounds', async () => {
    for (const round of ROUNDS) await resolve(round);
    const inAll = (who: number, probabilityBps: number) => ROUNDS.map((round) => ({ who, round, probabilityBps }));
    await commit([...inAll(1, 7_000), ...inAll(2, 9_000), ...inAll(3, 5_000), ...inAll(4, 9_900).slice(1)]);
    // Five markets of one round count as one round: the wallet stays without a rank.
    await commit([1, 2, 3, 4, 5].map((strike) => ({ who: 5, round: ROUNDS[0]!, strike, probabilityBps: 9_800 })));
    await openWorker().run();
    const { standings, total } = await openWorker().listStandings(PAGE);
    expect(standings.map(({ wallet, rank }) => [wallet, rank])).toEqual([
      [walletOf(2), 1],
      [walletOf(1), 2],
      [walletOf(3), 3],
      [walletOf(4), null],
      [walletOf(5), null],
    ]);
    expect(total).toBe(5);
    expect(standings[0]).toMatchObject({ rounds: MIN_RANKED_ROUNDS, points: MIN_RANKED_ROUNDS * score(9_000).points });
    expect(standings[0]).toMatchObject({ brier: 0.01, oracleBrier: 0.16, meanDifference: 0.15 });
    expect(standings[4]).toMatchObject({ rounds: 1, points: 5 * score(9_800).points });
    expect((await openWorker().listStandings({ limit: 2, offset: 1 })).standings).toEqual(standings.slice(1, 3));
  });

  it('is the same with two workers, after a crash, and whatever round is decided first', async () => {
    await commit(ROUNDS.flatMap((round, at) => [1, 2, 3].map((who) => ({ who, round, probabilityBps: 1_000 * (who + at) }))));
    for (const round of ROUNDS.toReversed()) {
      await resolve(round);
      await Promise.all([openWorker().run(), openWorker().run()]);
    }
    const { standings } = await openWorker().listStandings(PAGE);
    const points = (who: number) => ROUNDS.reduce((sum, _, at) => sum + score(1_000 * (who + at)).points, 0);
    expect(standings.map((row) => row.points)).toEqual([3, 2, 1].map(points));
    // A worker that was killed has scored one of the wallets.
    await database.db.collection<StandingDoc>('contest_wallet_standings').deleteMany({ _id: { $ne: walletOf(2) } });
    await rounds().updateMany({}, { $set: { rankedAt: null } });
    await Promise.all([openWorker().run(), openWorker().run()]);
    expect((await openWorker().listStandings(PAGE)).standings).toEqual(standings);
  });
});
