import type { Collection, Db } from 'mongodb';
import type { Address } from 'viem';
import type { Revision } from '../../platform/concurrency/revision.ts';
import { ignoreDuplicate, isDuplicateKey } from '../../platform/mongo.ts';
import type { UnreachedInstant } from '../../platform/time/trusted-time.ts';
import { confirmIfUncertain } from '../../platform/uncertain-write.ts';
import type { Pagination } from '../pagination.ts';
import type { RoundDoc } from '../rounds/round.ts';
import { openContestRevision } from '../scoring/contest-revision.ts';
import { MIN_RANKED_ROUNDS } from '../scoring/rounds-interval.ts';
import type { CommitmentScore } from '../scoring/score.ts';
import { buildStandingsPipeline, type StandingRow } from '../scoring/standings-query.ts';
import { buildCommitmentId, type CommitmentDoc } from './commitment.ts';

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
  /** One document for each wallet with a commitment, so that wallets are counted without reading commitments. */
  readonly #wallets: Collection<{ _id: string }>;
  readonly #revision: Revision;

  constructor(db: Db) {
    this.#commitments = db.collection('contest_commitments');
    this.#wallets = db.collection('contest_wallets');
    this.#revision = openContestRevision(db);
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
    await this.#wallets.updateOne({ _id: rest.wallet }, { $setOnInsert: { _id: rest.wallet } }, { upsert: true }).catch(ignoreDuplicate);
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

  async hasEntered({ markets }: Pick<RoundDoc, 'markets'>, wallet: Address): Promise<boolean> {
    const ids = markets.map(({ id }) => buildCommitmentId({ market: id, wallet }));
    return (await this.#commitments.countDocuments({ _id: { $in: ids } }, { hint: { _id: 1 }, limit: 1 })) > 0;
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
      // Also when a process that scored them has crashed before.
      if (unscored.length === 0) return this.#revision.advance();
      const updates = unscored.map(({ _id, probabilityBps }) => ({
        updateOne: { filter: { _id, score: null }, update: { $set: { score: scoreOfBps(probabilityBps) } } },
      }));
      await this.#commitments.bulkWrite(updates, { ordered: false });
    }
  }

  /** By the counts that the database keeps: no document is read. */
  async countTotals(): Promise<{ commitments: number; wallets: number }> {
    const [commitments, wallets] = await Promise.all([this.#commitments.estimatedDocumentCount(), this.#wallets.estimatedDocumentCount()]);
    return { commitments, wallets };
  }

  /** From all scored commitments, best first. */
  computeStandings(): Promise<StandingRow[]> {
    return this.#commitments.aggregate<StandingRow>(buildStandingsPipeline(MIN_RANKED_ROUNDS)).toArray();
  }

  /** Adds wallets to the counted ones that are missing, of commitments of earlier versions. */
  async addMissingWallets(): Promise<void> {
    const wallets = await this.#commitments.aggregate<{ _id: string }>([{ $group: { _id: '$wallet' } }]).toArray();
    if (wallets.length <= (await this.#wallets.estimatedDocumentCount())) return;
    const writes = wallets.map(({ _id }) => ({ updateOne: { filter: { _id }, update: { $setOnInsert: { _id } }, upsert: true } }));
    await this.#wallets.bulkWrite(writes, { ordered: false });
  }
}
