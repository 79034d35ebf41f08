import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../../platform/mongo.ts';
import type { UnreachedInstant } from '../../platform/time/trusted-time.ts';
import { confirmIfUncertain } from '../../platform/uncertain-write.ts';
import type { Pagination } from '../pagination.ts';
import { MIN_RANKED_ROUNDS } from '../scoring/rounds-interval.ts';
import type { CommitmentScore } from '../scoring/score.ts';
import { buildStandingsPipeline, type StandingRow } from '../scoring/standings-query.ts';
import type { CommitmentDoc } from './commitment.ts';

/** A single index beside the key, as the embedded engine does not choose reliably between several. */
export const COMMITMENT_INDEXES = [{ collection: 'contest_commitments', indexes: [{ key: { market: 1, wallet: 1 } }] }];

export type NewCommitment = Omit<CommitmentDoc, 'score'>;

export interface CrowdFigures {
  commitments: number;
  meanBps: number | null;
}

const SCORING_BATCH = 500;

/** Commitments: one per wallet and market, the newest by `issuedAtMs`. */
export class CommitmentStore {
  readonly #commitments: Collection<CommitmentDoc>;

  constructor(db: Db) {
    this.#commitments = db.collection('contest_commitments');
  }

  /** `stale`: the stored one is as new or newer, so that the upsert violates the unique key. `_open` proves the round unopened. */
  async upsert(commitment: NewCommitment, _open: UnreachedInstant): Promise<'created' | 'replaced' | 'stale'> {
    const { _id, ...rest } = commitment;
    const filter = { _id, issuedAtMs: { $lt: rest.issuedAtMs } };
    const update = { $set: rest, $setOnInsert: { score: null } };
    const write = async () =>
      (await this.#commitments.updateOne(filter, update, { upsert: true })).upsertedCount === 1 ? 'created' : 'replaced';
    // A lost reply may also have been that of a replacement.
    const readBack = async () => (await this.#commitments.findOne({ _id, signature: rest.signature })) && 'created';
    for (;;) {
      try {
        return await confirmIfUncertain(write, readBack);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // A concurrent first writer may have inserted an older one: retry unless the stored one is not older.
        if ((await this.#commitments.countDocuments(filter, { limit: 1 })) === 0) return 'stale';
      }
    }
  }

  async readCrowdFigures(markets: readonly string[]): Promise<Map<string, CrowdFigures>> {
    const groups = await this.#commitments
      .aggregate<CrowdFigures & { _id: string }>([
        { $match: { market: { $in: [...markets] } } },
        { $group: { _id: '$market', commitments: { $sum: 1 }, meanBps: { $avg: '$probabilityBps' } } },
      ])
      .toArray();
    return new Map(groups.map(({ _id, commitments, meanBps }) => [_id, { commitments, meanBps }]));
  }

  async listByMarket(market: string, { limit, offset }: Pagination): Promise<{ commitments: CommitmentDoc[]; total: number }> {
    const [commitments, total] = await Promise.all([
      this.#commitments.find({ market }).sort({ market: 1, wallet: 1 }).skip(offset).limit(limit).toArray(),
      this.#commitments.countDocuments({ market }),
    ]);
    return { commitments, total };
  }

  async scoreMarket(market: string, scoreOfBps: (walletBps: number) => CommitmentScore): Promise<void> {
    for (;;) {
      const unscored = await this.#commitments.find({ market, score: null }).limit(SCORING_BATCH).toArray();
      if (unscored.length === 0) return;
      const updates = unscored.map(({ _id, probabilityBps }) => ({
        updateOne: { filter: { _id, score: null }, update: { $set: { score: scoreOfBps(probabilityBps) } } },
      }));
      await this.#commitments.bulkWrite(updates, { ordered: false });
    }
  }

  async countTotals(): Promise<{ commitments: number; scored: number; wallets: number }> {
    const [totals] = await this.#commitments
      .aggregate<{ commitments: number; scored: number; wallets: number }>([
        { $group: { _id: '$wallet', commitments: { $sum: 1 }, scored: { $sum: { $cond: [{ $eq: ['$score', null] }, 0, 1] } } } },
        { $group: { _id: null, commitments: { $sum: '$commitments' }, scored: { $sum: '$scored' }, wallets: { $sum: 1 } } },
      ])
      .toArray();
    return { commitments: totals?.commitments ?? 0, scored: totals?.scored ?? 0, wallets: totals?.wallets ?? 0 };
  }

  async listStandings(page: Pagination): Promise<{ rows: StandingRow[]; total: number; ranked: number }> {
    const [result] = await this.#commitments
      .aggregate<{ rows: StandingRow[]; counts: { total: number; ranked: number }[] }>(buildStandingsPipeline(page, MIN_RANKED_ROUNDS))
      .toArray();
    return { rows: result.rows, total: result.counts[0]?.total ?? 0, ranked: result.counts[0]?.ranked ?? 0 };
  }
}
