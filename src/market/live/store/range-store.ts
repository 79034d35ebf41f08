import type { Collection, Db } from 'mongodb';
import { type Day, toDay } from '../../../forecast/day.ts';
import type { PriceRange } from '../../feed.ts';
import type { VenueRange } from '../../prices/range-quorum.ts';

/** The agreed range of a running UTC day. `_id` is the number of minutes since 1970. */
export interface RangeDoc extends PriceRange {
  _id: number;
  day: Day;
  receivedAtMs: number;
  /** As received, outliers included. */
  venues: VenueRange[];
}

const MINUTE_MS = 60_000;
/** Past ranges serve delayed pipeline runs. */
const RETENTION_MINUTES = 7 * 1_440;
/** An older range lacks the last price moves. */
const MAX_AGE_MS = 15 * MINUTE_MS;

export class RangeStore {
  readonly #ranges: Collection<RangeDoc>;

  constructor(db: Db) {
    this.#ranges = db.collection('running_ranges');
  }

  /** Keeps the first range of a minute and deletes those beyond the retention period. */
  async save(range: Omit<RangeDoc, '_id'>): Promise<void> {
    const _id = Math.floor(range.receivedAtMs / MINUTE_MS);
    await this.#ranges.updateOne({ _id }, { $setOnInsert: range }, { upsert: true });
    await this.#ranges.deleteMany({ _id: { $lt: _id - RETENTION_MINUTES } });
  }

  /** The last range received at or before an instant; null without one of its UTC day and of the last 15 minutes. */
  async findAt(atMs: number): Promise<PriceRange | null> {
    const latest = { _id: { $lte: Math.floor(atMs / MINUTE_MS) }, receivedAtMs: { $lte: atMs } };
    const found = await this.#ranges.findOne(latest, { sort: { _id: -1 } });
    if (found === null || found.day !== toDay(atMs) || atMs - found.receivedAtMs > MAX_AGE_MS) return null;
    return { highUsd: found.highUsd, lowUsd: found.lowUsd };
  }
}
