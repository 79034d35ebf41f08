import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { type CollectionIndexes, isDuplicateKey } from '../../platform/mongo.ts';
import { repeatIfUncertain, undoIfUncertain } from '../../platform/uncertain-write.ts';
import { WEBSOCKET } from '../channels.ts';

/** Lease without a heartbeat, by the database's clock; then the process counts as dead. */
export const SLOT_LEASE_MS = 90_000;

const COLLECTION = 'websocket_slots';

export const SLOT_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: { holder: 1 } }, { key: { until: 1 } }] },
] as const satisfies CollectionIndexes[];

const LEASE_END = { $add: ['$$NOW', SLOT_LEASE_MS] };
/** Also true for a new document. */
const IS_FREE = { $not: [{ $gt: ['$until', '$$NOW'] }] };
/** Expired slots are harmless; they are deleted after an hour. */
const IS_ABANDONED = { $expr: { $lt: ['$until', { $subtract: ['$$NOW', 3_600_000] }] } };

export class ConnectionSlotStore {
  readonly #slots: Collection<{ _id: string; holder: string; connection: string; until: Date }>;
  readonly #holder = randomUUID();

  constructor(db: Db) {
    this.#slots = db.collection(COLLECTION);
  }

  /** Acquires a free slot; null if the wallet has none. @param wallet in lower case */
  async claim(wallet: string, connection: string): Promise<string | null> {
    for (let number = 0; number < WEBSOCKET.connectionsPerWallet; number++) {
      const id = `${wallet}:${number}`;
      if (await this.#acquireSlot(id, connection)) return id;
    }
    return null;
  }

  async #acquireSlot(id: string, connection: string): Promise<boolean> {
    const mine = { _id: id, holder: this.#holder, connection, until: LEASE_END };
    const update = [{ $replaceWith: { $cond: [IS_FREE, mine, '$$ROOT'] } }];
    try {
      const acquired = this.#slots.findOneAndUpdate({ _id: id }, update, { upsert: true, returnDocument: 'after' });
      const slot = await undoIfUncertain(acquired, () => this.release(id, connection));
      return slot?.connection === connection;
    } catch (error) {
      // A concurrent upsert created the slot for another connection.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async release(id: string, connection: string): Promise<void> {
    await repeatIfUncertain(() => this.#slots.deleteOne({ _id: id, connection }));
  }

  /** Extends the leases of connections of this process; returns those that have lost their slots. */
  async heartbeat(connections: readonly string[]): Promise<string[]> {
    const mine = { holder: this.#holder, connection: { $in: [...connections] } };
    const { matchedCount } = await this.#slots.updateMany(mine, [{ $set: { until: LEASE_END } }]);
    if (matchedCount >= connections.length) return [];
    const kept = await this.#slots.find(mine, { projection: { connection: 1 } }).toArray();
    const names = new Set(kept.map(({ connection }) => connection));
    return connections.filter((connection) => !names.has(connection));
  }

  async releaseAll(): Promise<void> {
    await this.#slots.deleteMany({ holder: this.#holder });
  }

  async purge(): Promise<void> {
    await this.#slots.deleteMany(IS_ABANDONED);
  }
}
