import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../../../mongo.ts';
import type { StrikeSnapshot } from '../../strikes.ts';

/** `_id` is venue, market and the minute of its reception. */
type StrikeDoc = StrikeSnapshot & { _id: string };

const COLLECTION = 'strike_snapshots';

export const STRIKE_INDEXES = [{ collection: COLLECTION, indexes: [{ key: { receivedAtMs: 1 } }] }];

/** What prediction markets asked for each strike, minute by minute: venues do not keep past odds, so nothing here is overwritten. */
export class StrikeStore {
  readonly #snapshots: Collection<StrikeDoc>;

  constructor(db: Db) {
    this.#snapshots = db.collection(COLLECTION);
  }

  /** Of several snapshots of a market in one minute the first is kept. */
  async save(snapshots: readonly StrikeSnapshot[]): Promise<void> {
    if (snapshots.length === 0) return;
    const docs = snapshots.map((snapshot) => ({ ...snapshot, _id: idOf(snapshot) }));
    await this.#snapshots.insertMany(docs, { ordered: false }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
  }

  /** The newest snapshot of each market received at or before `atMs` and not longer than `maxAgeMs` before; expired ones are left out. */
  async latest(atMs: number, maxAgeMs: number): Promise<StrikeSnapshot[]> {
    const newest = await this.#snapshots
      .aggregate<{ snapshot: StrikeDoc }>([
        { $match: { receivedAtMs: { $lte: atMs, $gte: atMs - maxAgeMs }, expiresAtMs: { $gt: atMs } } },
        { $sort: { receivedAtMs: -1 } },
        { $group: { _id: { venue: '$venue', marketId: '$marketId' }, snapshot: { $first: '$$ROOT' } } },
      ])
      .toArray();
    return newest
      .map(({ snapshot: { _id, ...snapshot } }) => snapshot)
      .sort((a, b) => a.expiresAtMs - b.expiresAtMs || a.strikeUsd - b.strikeUsd);
  }
}

function idOf({ venue, marketId, receivedAtMs }: StrikeSnapshot): string {
  return `${venue}/${marketId}/${new Date(receivedAtMs).toISOString().slice(0, 16)}`;
}
