import { getAddress, type Hex, pad, toHex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildCommitmentId } from '../../../src/contest/commitments/commitment.ts';
import { CommitmentStore, type NewCommitment } from '../../../src/contest/commitments/store.ts';
import { CONTEST_INDEXES } from '../../../src/contest/deps.ts';
import { RoundStore } from '../../../src/contest/rounds/store.ts';
import { ContestFigures } from '../../../src/contest/scoring/contest-figures.ts';
import { MIN_RANKED_ROUNDS } from '../../../src/contest/scoring/rounds-interval.ts';
import { scoreCommitment } from '../../../src/contest/scoring/score.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { REACHED, UNREACHED } from '../../support/clock/trusted-time.ts';
import { listedRound } from '../../support/contest/contest-round.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let store: CommitmentStore;
/** As another process does. */
const openFigures = () =>
  new ContestFigures(database.db, { commitments: new CommitmentStore(database.db), rounds: new RoundStore(database.db) });

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, CONTEST_INDEXES);
  store = new CommitmentStore(database.db);
});

const walletOf = (n: number) => getAddress(pad(toHex(n), { size: 20 }));

function commitment(changes: Partial<NewCommitment> & { who?: number } = {}): NewCommitment {
  const { who = 1, ...rest } = changes;
  const base = { market: '2026-W32-62000', wallet: walletOf(who), probabilityBps: 5_000, issuedAtMs: 1_000 };
  const doc = { ...base, roundId: '2026-W32', signature: '0x01' as Hex, committedAt: new Date(0), ...rest };
  return { ...doc, _id: buildCommitmentId(doc) };
}

const standing = async () => (await store.listByMarket('2026-W32-62000', { limit: 100, offset: 0 })).commitments;

describe('one commitment per wallet and market', () => {
  it('keeps the newest in any order', async () => {
    expect(await store.upsert(commitment({ issuedAtMs: 2_000, probabilityBps: 2_000 }), UNREACHED)).toBe('created');
    expect(await store.upsert(commitment({ issuedAtMs: 3_000, probabilityBps: 3_000 }), UNREACHED)).toBe('replaced');
    for (const issuedAtMs of [3_000, 2_000, 0])
      expect(await store.upsert(commitment({ issuedAtMs, probabilityBps: 9_000 }), UNREACHED)).toBe('stale');
    expect(await standing()).toMatchObject([{ issuedAtMs: 3_000, probabilityBps: 3_000, score: null }]);
  });

  it('keeps the newest of concurrent writes in one document', async () => {
    const times = Array.from({ length: 40 }, (_, i) => 1_000 + ((i * 17) % 40));
    const put = await Promise.all(
      times.map((issuedAtMs) => store.upsert(commitment({ issuedAtMs, probabilityBps: issuedAtMs }), UNREACHED)),
    );
    expect(put.filter((result) => result === 'created')).toHaveLength(1);
    expect(put[times.indexOf(1_039)]).not.toBe('stale');
    expect(await standing()).toMatchObject([{ issuedAtMs: 1_039, probabilityBps: 1_039 }]);
  });

  it('accepts one of two with the same time', async () => {
    const put = await Promise.all(Array.from({ length: 10 }, (_, i) => store.upsert(commitment({ probabilityBps: 1_000 + i }), UNREACHED)));
    expect(put.toSorted()).toEqual(['created', ...Array(9).fill('stale')]);
  });

  it('ignores the case of the address', async () => {
    const wallet = getAddress('0xabcdefabcdefabcdefabcdefabcdefabcdefabcd');
    await store.upsert(commitment({ wallet }), UNREACHED);
    expect(await store.upsert(commitment({ wallet: wallet.toLowerCase() as Hex }), UNREACHED)).toBe('stale');
  });
});

describe('scores', () => {
  const score = (walletBps: number) => scoreCommitment({ walletBps, oracleBps: 6_000, above: true });

  it('are written once with two workers and after a crash', async () => {
    for (let who = 1; who <= 30; who++) await store.upsert(commitment({ who, probabilityBps: 200 * who }), UNREACHED);
    await store.upsert(commitment({ who: 1, market: '2026-W32-64000' }), UNREACHED);
    const half = (await standing()).slice(0, 15).map(({ _id }) => _id);
    const marked = { ...score(5_000), points: 77 };
    await database.db.collection<{ _id: string }>('contest_commitments').updateMany({ _id: { $in: half } }, { $set: { score: marked } });
    await Promise.all([store.scoreMarket('2026-W32-62000', score), store.scoreMarket('2026-W32-62000', score)]);
    const after = await standing();
    // What was there stands.
    expect(after.filter((doc) => doc.score!.points === 77).map(({ _id }) => _id)).toEqual(half);
    for (const doc of after.slice(15)) expect(doc.score).toEqual(score(doc.probabilityBps));
    const [other] = (await store.listByMarket('2026-W32-64000', { limit: 1, offset: 0 })).commitments;
    expect(other.score).toBeNull();
    expect(await store.countTotals()).toEqual({ commitments: 31, wallets: 30 });
    expect(await openFigures().getSummary()).toMatchObject({ scored: 30, total: 30 });
  });

  it('rank wallets by their mean over rounds, after those with enough rounds', async () => {
    const enough = Array.from({ length: MIN_RANKED_ROUNDS }, (_, i) => `2026-W${10 + i}`);
    const entries: [who: number, rounds: string[], probabilityBps: number][] = [
      [1, enough, 7_000],
      [2, enough, 9_000],
      [3, enough, 5_000],
      [4, enough.slice(1), 9_900],
    ];
    for (const [who, rounds, probabilityBps] of entries) {
      for (const roundId of rounds) await store.upsert(commitment({ who, roundId, market: `${roundId}-1`, probabilityBps }), UNREACHED);
    }
    // Five markets of one round count as one round: the wallet stays without a rank.
    for (let strike = 1; strike <= 5; strike++) {
      await store.upsert(commitment({ who: 5, roundId: '2026-W10', market: `2026-W10-${strike}`, probabilityBps: 9_900 }), UNREACHED);
    }
    for (const roundId of enough) for (let strike = 1; strike <= 5; strike++) await store.scoreMarket(`${roundId}-${strike}`, score);
    const { rows, total, ranked } = await openFigures().listStandings({ limit: 10, offset: 0 });
    // The two without a rank are equally good by round, and differ in points.
    expect(rows.map(({ _id }) => _id)).toEqual([2, 1, 3, 5, 4].map(walletOf));
    expect({ total, ranked }).toEqual({ total: 5, ranked: 3 });
    const [first] = rows;
    expect(first).toMatchObject({
      rounds: MIN_RANKED_ROUNDS,
      commitments: MIN_RANKED_ROUNDS,
      points: MIN_RANKED_ROUNDS * score(9_000).points,
    });
    expect(first.meanDifference).toBeCloseTo(0.16 - 0.01, 12);
    expect(first.standardDeviation).toBeCloseTo(0, 12);
    const fifth = rows.find(({ _id }) => _id === walletOf(5))!;
    expect(fifth).toMatchObject({ rounds: 1, commitments: 5, points: 5 * score(9_900).points, standardDeviation: null, ranked: false });
    const all = rows.reduce((sum, { points }) => sum + points, 0);
    expect(all).toBe(entries.reduce((sum, [, rounds, bps]) => sum + rounds.length * score(bps).points, 5 * score(9_900).points));
    const second = await openFigures().listStandings({ limit: 2, offset: 1 });
    expect(second.rows.map(({ _id }) => _id)).toEqual(rows.slice(1, 3).map(({ _id }) => _id));
    expect(second.total).toBe(5);
  });

  it('are computed once a change, stored for all processes, and found wrong when they differ', async () => {
    await store.upsert(commitment({ who: 1 }), UNREACHED);
    await store.upsert(commitment({ who: 2, probabilityBps: 9_000 }), UNREACHED);
    await store.scoreMarket('2026-W32-62000', score);
    const page = { limit: 10, offset: 0 };
    const { rows } = await openFigures().listStandings(page);
    expect(rows.map(({ _id }) => _id)).toEqual([2, 1].map(walletOf));
    const scoring = vi.spyOn(CommitmentStore.prototype, 'computeStandings');
    expect((await openFigures().listStandings(page)).rows).toEqual(rows);
    expect(scoring).not.toHaveBeenCalled();
    expect(await openFigures().verify()).toBe(true);
    await database.db.collection('contest_standings').updateMany({}, { $set: { 'row.points': 1_000 } });
    expect((await openFigures().listStandings(page)).rows.map(({ points }) => points)).toEqual([1_000, 1_000]);
    expect(await openFigures().verify()).toBe(false);
    expect((await openFigures().listStandings(page)).rows).toEqual(rows);
    await database.db.collection('contest_wallets').deleteMany({});
    await openFigures().rebuild();
    expect(await store.countTotals()).toEqual({ commitments: 2, wallets: 2 });
    scoring.mockRestore();
  });

  it('give empty standings without any', async () => {
    expect(await openFigures().listStandings({ limit: 10, offset: 0 })).toEqual({ rows: [], total: 0, ranked: 0 });
    expect(await store.countTotals()).toEqual({ commitments: 0, wallets: 0 });
  });
});

describe('a round', () => {
  it('is inserted once and changes state once', async () => {
    const rounds = new RoundStore(database.db);
    const prices = Array.from({ length: 10 }, (_, i) => 50_000 + 1_000 * i);
    const listed = await Promise.all(prices.map((price) => rounds.insert(listedRound('2026-07-29T10:00:00Z', price), UNREACHED)));
    expect(listed.filter(Boolean)).toHaveLength(1);
    const round = (await rounds.find('2026-W32'))!;
    expect(round.listing.spotUsd).toBe(prices[listed.indexOf(true)]);
    const moves = await Promise.all(prices.map(() => rounds.transition(round._id, { from: 'OPEN', to: 'RUNNING' }, {}, REACHED)));
    expect(moves.filter(Boolean)).toHaveLength(1);
    expect(await rounds.transition(round._id, { from: 'OPEN', to: 'VOID' }, { voidBecause: 'too late' }, REACHED)).toBe(false);
    expect(await rounds.find(round._id)).toMatchObject({ state: 'RUNNING', voidBecause: null });
  });
});
