import type { Collection, Db } from 'mongodb';
import { isDatabaseUnreachable } from '../mongo.ts';
import { repeatIfUncertain } from '../uncertain-write.ts';
import { shareReads } from './shared-reads.ts';

interface RevisionDoc {
  _id: string;
  revision?: number;
}

/** A counter in the database that advances after every write that it stands for: what was computed at the current one is up to date. */
export class Revision {
  /** Concurrent callers share one read that starts after their call. */
  readonly read: () => Promise<number>;
  readonly #collection: Collection<RevisionDoc>;
  readonly #_id: string;
  /** A write may have changed what the counter stands for, and the counter could not be advanced. */
  #isBehind = false;
  #isDeferred = false;

  constructor(db: Db, { collection, _id }: { collection: string; _id: string }) {
    this.#collection = db.collection(collection);
    this.#_id = _id;
    const read = shareReads(async (id: string) => {
      if (this.#isBehind) await this.advance();
      return (await this.#collection.findOne({ _id: id }))?.revision ?? 0;
    });
    this.read = () => read(_id);
  }

  async advance(): Promise<void> {
    if (this.#isDeferred) return;
    this.#isBehind = true;
    // Twice is once too often at most, which costs a computation.
    await repeatIfUncertain(() => this.#collection.updateOne({ _id: this.#_id }, { $inc: { revision: 1 } }, { upsert: true }));
    this.#isBehind = false;
  }

  /** Also after a write whose reply was lost: its repetition may find it done, and would not advance. */
  async advanceAfter<T>(write: Promise<T>): Promise<T> {
    try {
      const result = await write;
      await this.advance();
      return result;
    } catch (error) {
      if (isDatabaseUnreachable(error)) this.#isBehind = true;
      throw error;
    }
  }

  /** Advances once after `work`, in place of each write in it. Not for concurrent calls, nor for work that a crash would leave incomplete. */
  async advanceOnceAfter(work: () => Promise<void>): Promise<void> {
    this.#isDeferred = true;
    try {
      await work();
    } finally {
      this.#isDeferred = false;
      await this.advance();
    }
  }
}
