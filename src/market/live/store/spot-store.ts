import type { Collection, Db } from 'mongodb';

/** The price that venues agreed on in one minute. `_id` is the minute since 1970. */
export interface SpotDoc {
  _id: number;
  priceUsd: number;
  /** The oldest of the venues' own times (ms): no part of the price is older. */
  observedAtMs: number;
  receivedAtMs: number;
  change24hPct: number | null;
  venues: { venue: string; priceUsd: number; observedAtMs: number }[];
}

const MINUTE_MS = 60_000;
/** Prices of past minutes serve late runs; after a week nobody asks. */
const RETENTION_MINUTES = 7 * 1_440;

/** Prices by the minute, the collection `spot_prices`: what the doors of any process read. */
export class SpotStore {
  readonly #prices: Collection<SpotDoc>;

  constructor(db: Db) {
    this.#prices = db.collection('spot_prices');
  }

  /** Keeps a minute's first price, and drops those nobody asks for any more. */
  async save(price: Omit<SpotDoc, '_id'>): Promise<void> {
    const _id = Math.floor(price.receivedAtMs / MINUTE_MS);
    await this.#prices.updateOne({ _id }, { $setOnInsert: price }, { upsert: true });
    await this.#prices.deleteMany({ _id: { $lt: _id - RETENTION_MINUTES } });
  }

  /** The last price received at or before an instant; null when there is none. */
  async findAt(atMs: number): Promise<SpotDoc | null> {
    const [last] = await this.#prices
      .find({ _id: { $lte: Math.floor(atMs / MINUTE_MS) }, receivedAtMs: { $lte: atMs } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    return last ?? null;
  }
}
