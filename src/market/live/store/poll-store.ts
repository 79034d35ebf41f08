import type { Collection, Db } from 'mongodb';
import { isFirstWrite } from '../../../platform/mongo.ts';

interface PollDoc {
  _id: string;
  nextAtMs: number;
  /** Last success (ms); null before the first. */
  okAtMs: number | null;
  failures: number;
  /** Message of the last failure; null after a success. */
  error: string | null;
}

/** The durable schedule of all polls, shared by all workers. */
export class PollStore {
  readonly #polls: Collection<PollDoc>;

  constructor(db: Db) {
    this.#polls = db.collection('feed_polls');
  }

  /** Acquires the lease of a due poll; false when it is not due or another worker holds it. */
  async claim(id: string, nowMs: number, leaseMs: number): Promise<boolean> {
    const change = { $set: { nextAtMs: nowMs + leaseMs }, $setOnInsert: { okAtMs: null, failures: 0, error: null } };
    // A poll that is not due does not match, so the upsert violates the key of its document.
    return isFirstWrite(this.#polls.updateOne({ _id: id, nextAtMs: { $lte: nowMs } }, change, { upsert: true }));
  }

  async release(id: string, nextAtMs: number): Promise<void> {
    await this.#polls.updateOne({ _id: id }, { $set: { nextAtMs } });
  }

  async succeeded(id: string, nowMs: number, nextAtMs: number): Promise<void> {
    await this.#polls.updateOne({ _id: id }, { $set: { nextAtMs, okAtMs: nowMs, failures: 0, error: null } });
  }

  /** Records a failure with the delay of the next attempt. @returns consecutive failures */
  async failed(id: string, error: string, nextAtMs: (failures: number) => number): Promise<number> {
    const known = await this.#polls.findOneAndUpdate({ _id: id }, { $inc: { failures: 1 }, $set: { error } }, { returnDocument: 'after' });
    const failures = known?.failures ?? 1;
    await this.#polls.updateOne({ _id: id }, { $set: { nextAtMs: nextAtMs(failures) } });
    return failures;
  }

  async find(id: string): Promise<PollDoc | null> {
    return this.#polls.findOne({ _id: id });
  }
}
