import type { Collection, Db } from 'mongodb';
import { isFirstWrite } from '../../platform/mongo.ts';
import type { ReachedInstant, UnreachedInstant } from '../../platform/time/trusted-time.ts';
import type { Pagination } from '../pagination.ts';
import type { RoundDoc, RoundState } from './round.ts';

/** A single index, as the embedded engine does not choose reliably between several. */
export const ROUND_INDEXES = [{ collection: 'contest_rounds', indexes: [{ key: { opensAt: 1 }, unique: true }] }];

type RoundChange = Partial<Pick<RoundDoc, 'markets' | 'pinned' | 'outcome' | 'voidBecause'>>;
type RoundTransition = Record<'from' | 'to', RoundState>;

/** Rounds: inserted once by the first writer, changed by compare-and-set on their state. */
export class RoundStore {
  readonly #rounds: Collection<RoundDoc>;

  constructor(db: Db) {
    this.#rounds = db.collection('contest_rounds');
  }

  find(id: string): Promise<RoundDoc | null> {
    return this.#rounds.findOne({ _id: id });
  }

  /** Inserts a new round, which `_ahead` proves to be in the future; false when it exists. */
  insert(round: RoundDoc, _ahead: UnreachedInstant): Promise<boolean> {
    return isFirstWrite(this.#rounds.insertOne(round));
  }

  /** Changes the state of a round that `over` proves to have opened; false when it is in another state. */
  async transition(id: string, { from, to }: RoundTransition, change: RoundChange, over: ReachedInstant): Promise<boolean> {
    const opened = { opensAt: { $lte: new Date(over.ms) } };
    const { modifiedCount } = await this.#rounds.updateOne({ _id: id, state: from, ...opened }, { $set: { ...change, state: to } });
    return modifiedCount === 1;
  }

  async markScored(id: string, scoredAt: Date): Promise<void> {
    await this.#rounds.updateOne({ _id: id, scoredAt: null }, { $set: { scoredAt } });
  }

  listOpened(state: RoundState, now: Date): Promise<RoundDoc[]> {
    return this.#rounds
      .find({ state, opensAt: { $lte: now } })
      .sort({ opensAt: 1 })
      .toArray();
  }

  listUnscored(): Promise<RoundDoc[]> {
    return this.#rounds.find({ state: 'RESOLVED', scoredAt: null }).sort({ opensAt: 1 }).toArray();
  }

  async listPage({ limit, offset }: Pagination): Promise<{ rounds: RoundDoc[]; total: number }> {
    const [rounds, total] = await Promise.all([
      this.#rounds.find().sort({ opensAt: -1 }).skip(offset).limit(limit).toArray(),
      this.#rounds.countDocuments(),
    ]);
    return { rounds, total };
  }

  /** Open and running rounds: at most one of each, unless a close is late. */
  listUndecided(): Promise<RoundDoc[]> {
    return this.#rounds
      .find({ state: { $in: ['OPEN', 'RUNNING'] } })
      .sort({ opensAt: 1 })
      .toArray();
  }

  async countByState(): Promise<Partial<Record<RoundState, number>>> {
    const groups = await this.#rounds
      .aggregate<{ _id: RoundState; count: number }>([{ $group: { _id: '$state', count: { $sum: 1 } } }])
      .toArray();
    return Object.fromEntries(groups.map(({ _id, count }) => [_id, count]));
  }
}
