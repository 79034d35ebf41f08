import type { Collection, Db } from 'mongodb';

/** The median price of one minute. `_id` is the number of minutes since 1970. */
export interface SpotDoc {
  _id: number;
  priceUsd: number;
  /** The oldest time of a venue's price (ms). */
  observedAtMs: number;
  receivedAtMs: number;
  change24hPct: number | null;
  venues: { venue: string; priceUsd: number; observedAtMs: number }[];
}

const MINUTE_MS = 60_000;
/** Past prices serve delayed pipeline runs. */
const RETENTION_MINUTES = 7 * 1_440;

export class SpotStore {
  readonly #prices: Collection<SpotDoc>;

  constructor(db: Db) {
    this.#prices = db.collection('spot_prices');
  }

  /** Keeps the first price of a minute and deletes those beyond the retention period. */
  async save(price: Omit<SpotDoc, '_id'>): Promise<void> {
    const _id = Math.floor(price.receivedAtMs / MINUTE_MS);
    await this.#prices.updateOne({ _id }, { $setOnInsert: price }, { upsert: true });
    await this.#prices.deleteMany({ _id: { $lt: _id - RETENTION_MINUTES } });
  }

  /** The last price received at or before an instant; null without one. */
  async findAt(atMs: number): Promise<SpotDoc | null> {
    return this.#prices.findOne({ _id: { $lte: Math.floor(atMs / MINUTE_MS) }, receivedAtMs: { $lte: atMs } }, { sort: { _id: -1 } });
  }
}
