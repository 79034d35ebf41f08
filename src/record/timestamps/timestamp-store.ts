import type { Collection, Db } from 'mongodb';
import { type Day, formatDay } from '../../forecast/day.ts';
import { insertOrFind } from '../../platform/insert-or-find.ts';
import { getNextAt, type TimestampDoc } from './timestamp-doc.ts';

const NEXT_KEY = { nextAt: 1 } as const;

export const TIMESTAMP_INDEXES = [{ collection: 'timestamps', indexes: [{ key: { day: 1 }, unique: true }, { key: NEXT_KEY }] }];

type TimestampChange = Pick<TimestampDoc, 'calendars' | 'proof' | 'blocks'> & Partial<Pick<TimestampDoc, 'document' | 'digest'>>;

/** Timestamps by day. Each write is first-writer-wins or compare-and-set on the revision. */
export class TimestampStore {
  readonly #timestamps: Collection<TimestampDoc>;

  constructor(db: Db) {
    this.#timestamps = db.collection('timestamps');
  }

  find(day: Day): Promise<TimestampDoc | null> {
    return this.#timestamps.findOne({ _id: formatDay(day) });
  }

  /** Newest first. @param before exclusive; null: from the newest */
  list({ before, limit }: { before: Day | null; limit: number }): Promise<TimestampDoc[]> {
    const earlier = before === null ? {} : { day: { $lt: before } };
    return this.#timestamps.find(earlier).sort({ day: -1 }).limit(limit).toArray();
  }

  /** Days of which a calendar is due, the oldest first. */
  listDue(now: Date, limit: number): Promise<TimestampDoc[]> {
    return this.#timestamps
      .find({ nextAt: { $lte: now } })
      .sort({ nextAt: 1 })
      .limit(limit)
      .toArray();
  }

  /** When the oldest day was written of which a calendar is asked and none is confirmed; null without one. */
  async findOldestUnconfirmed(): Promise<Date | null> {
    const open = { nextAt: { $gt: new Date(0) }, 'calendars.status': { $ne: 'confirmed' as const } };
    // By the days that are still asked for: those that are done grow with the record.
    const options = { sort: { day: 1 }, projection: { createdAt: 1 }, hint: NEXT_KEY } as const;
    return (await this.#timestamps.findOne(open, options))?.createdAt ?? null;
  }

  insertFirst(doc: TimestampDoc): Promise<TimestampDoc> {
    return insertOrFind(this.#timestamps, doc);
  }

  /** @returns false when another writer came first: the next sweep continues from what it wrote */
  async replace({ _id, revision }: TimestampDoc, change: TimestampChange): Promise<boolean> {
    const update = { $set: { ...change, nextAt: getNextAt(change.calendars), revision: revision + 1 } };
    return (await this.#timestamps.updateOne({ _id, revision }, update)).modifiedCount === 1;
  }
}
