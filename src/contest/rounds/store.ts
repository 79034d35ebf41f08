import type { Collection, Db } from 'mongodb';
import type { Revision } from '../../platform/concurrency/revision.ts';
import { isFirstWrite } from '../../platform/mongo.ts';
import type { ReachedInstant, UnreachedInstant } from '../../platform/time/trusted-time.ts';
import type { Pagination } from '../pagination.ts';
import { openContestRevision } from '../scoring/contest-revision.ts';
import type { RoundDoc, RoundState } from './round.ts';

const OPENING_KEY = { opensAt: 1 } as const;
const STATE_KEY = { state: 1, opensAt: 1 } as const;

/** Queries name their index, as the embedded engine does not choose reliably between several. */
export const ROUND_INDEXES = [{ collection: 'contest_rounds', indexes: [{ key: OPENING_KEY, unique: true }, { key: STATE_KEY }] }];

type RoundChange = Partial<Pick<RoundDoc, 'markets' | 'pinned' | 'outcome' | 'voidBecause'>>;
type RoundTransition = Record<'from' | 'to', RoundState>;

/** Rounds: inserted once by the first writer, changed by compare-and-set on their state. */
export class RoundStore {
  readonly #rounds: Collection<RoundDoc>;
  readonly #revision: Revision;

  constructor(db: Db) {
    this.#rounds = db.collection('contest_rounds');
    this.#revision = openContestRevision(db);
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
    const write = this.#rounds.updateOne({ _id: id, state: from, ...opened }, { $set: { ...change, state: to } });
    const isDecided = to === 'RESOLVED' || to === 'VOID';
    const { modifiedCount } = isDecided ? await this.#revision.advanceAfter(write) : await write;
    return modifiedCount === 1;
  }

  async markScored(id: string, scoredAt: Date): Promise<void> {
    await this.#rounds.updateOne({ _id: id, scoredAt: null }, { $set: { scoredAt } });
  }

  listOpened(state: RoundState, now: Date): Promise<RoundDoc[]> {
    return this.#rounds
      .find({ state, opensAt: { $lte: now } }, { hint: STATE_KEY })
      .sort({ opensAt: 1 })
      .toArray();
  }

  listUnscored(): Promise<RoundDoc[]> {
    return this.#rounds.find({ state: 'RESOLVED', scoredAt: null }, { hint: STATE_KEY }).sort({ opensAt: 1 }).toArray();
  }

  async listPage({ limit, offset }: Pagination): Promise<{ rounds: RoundDoc[]; total: number }> {
    const [rounds, total] = await Promise.all([
      this.#rounds.find({}, { hint: OPENING_KEY }).sort({ opensAt: -1 }).skip(offset).limit(limit).toArray(),
      this.#rounds.estimatedDocumentCount(),
    ]);
    return { rounds, total };
  }

  /** Open and running rounds: at most one of each, unless a close is late. */
  listUndecided(): Promise<RoundDoc[]> {
    return this.#rounds
      .find({ state: { $in: ['OPEN', 'RUNNING'] } }, { hint: STATE_KEY })
      .sort({ opensAt: 1 })
      .toArray();
  }

  /** From all rounds. */
  async countByState(): Promise<Partial<Record<RoundState, number>>> {
    const groups = await this.#rounds
      .aggregate<{ _id: RoundState; count: number }>([{ $group: { _id: '$state', count: { $sum: 1 } } }])
      .toArray();
    return Object.fromEntries(groups.map(({ _id, count }) => [_id, count]));
  }
}
