import type { Collection, Db } from 'mongodb';
import type { Day } from '../../../forecast/day.ts';
import type { DayRange } from '../sources/source.ts';

interface BackfillDoc {
  _id: string;
  from: Day;
  /** Last fetched day; initially `from - 1`. */
  through: Day;
  done: boolean;
}

/** Backfill progress, so that an interrupted backfill resumes. */
export class BackfillStore {
  readonly #docs: Collection<BackfillDoc>;

  constructor(db: Db) {
    this.#docs = db.collection('feed_backfills');
  }

  /** Creates the progress unless it exists, and returns it. */
  async begin(id: string, from: Day): Promise<BackfillDoc> {
    const first = { $setOnInsert: { from, through: from - 1, done: false } };
    return (await this.#docs.findOneAndUpdate({ _id: id }, first, { upsert: true, returnDocument: 'after' })) as BackfillDoc;
  }

  async advance(id: string, through: Day): Promise<void> {
    await this.#docs.updateOne({ _id: id }, { $max: { through } });
  }

  /** Records a page that another item fetched, unless an earlier page is missing. */
  async advanceAlong(id: string, { from, to }: DayRange): Promise<void> {
    await this.#docs.updateOne({ _id: id, through: from - 1 }, { $set: { through: to } });
  }

  async finish(id: string): Promise<void> {
    await this.#docs.updateOne({ _id: id }, { $set: { done: true } });
  }

  async countDone(ids: string[]): Promise<number> {
    return this.#docs.countDocuments({ _id: { $in: ids }, done: true });
  }

  async isComplete(): Promise<boolean> {
    return (await this.#docs.countDocuments({ done: false })) === 0;
  }
}
