import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../../../platform/mongo.ts';

/** When something is asked for next. `_id` names it. */
export interface PollDoc {
  _id: string;
  nextAtMs: number;
  /** When it last succeeded (ms); null before. */
  okAtMs: number | null;
  /** Failures in a row. */
  failures: number;
  /** Why the last attempt failed; null after a success. */
  error: string | null;
}

/** The collector's timetable, the collection `feed_polls`: any number of workers share it, and it survives them. */
export class PollStore {
  readonly #polls: Collection<PollDoc>;

  constructor(db: Db) {
    this.#polls = db.collection('feed_polls');
  }

  /** Takes a poll that is due for `leaseMs`; false when it is not due, or another worker has it. */
  async claim(id: string, nowMs: number, leaseMs: number): Promise<boolean> {
    const leased = { nextAtMs: nowMs + leaseMs };
    try {
      const { matchedCount, upsertedCount } = await this.#polls.updateOne(
        { _id: id, nextAtMs: { $lte: nowMs } },
        { $set: leased, $setOnInsert: { okAtMs: null, failures: 0, error: null } },
        { upsert: true },
      );
      return matchedCount + upsertedCount > 0;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Gives a claimed poll back without a result. */
  async release(id: string, nextAtMs: number): Promise<void> {
    await this.#polls.updateOne({ _id: id }, { $set: { nextAtMs } });
  }

  async succeeded(id: string, nowMs: number, nextAtMs: number): Promise<void> {
    await this.#polls.updateOne({ _id: id }, { $set: { nextAtMs, okAtMs: nowMs, failures: 0, error: null } });
  }

  /** Notes a failure; the next attempt comes later with each one in a row. @returns failures in a row */
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
