import type { Collection, Db } from 'mongodb';
import type { Day } from '../../../forecast/day.ts';

/** How far the history of one source has been fetched. `_id` is `stream/source`. */
export interface BackfillDoc {
  _id: string;
  from: Day;
  /** Last day fetched so far; one before `from` at the beginning. */
  through: Day;
  done: boolean;
}

/** The progress of the first fetch of the history, the collection `feed_backfills`: an interrupted one goes on where it stopped. */
export class BackfillStore {
  readonly #docs: Collection<BackfillDoc>;

  constructor(db: Db) {
    this.#docs = db.collection('feed_backfills');
  }

  /** Begins a fetch unless it was begun, and returns where it stands. */
  async begin(id: string, from: Day): Promise<BackfillDoc> {
    const known = await this.#docs.findOneAndUpdate(
      { _id: id },
      { $setOnInsert: { from, through: from - 1, done: false } },
      { upsert: true, returnDocument: 'after' },
    );
    return known as BackfillDoc;
  }

  async advance(id: string, through: Day): Promise<void> {
    await this.#docs.updateOne({ _id: id }, { $max: { through } });
  }

  async finish(id: string): Promise<void> {
    await this.#docs.updateOne({ _id: id }, { $set: { done: true } });
  }

  /** Whether everything that was begun is there. */
  async isComplete(): Promise<boolean> {
    return (await this.#docs.countDocuments({ done: false })) === 0;
  }
}
