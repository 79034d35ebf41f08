import { randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { type CollectionIndexes, isDuplicateKey } from '../../platform/mongo.ts';
import { WEBSOCKET } from '../channels.ts';

/** Without a sign of life for so long, a process is taken for dead, and its connections for gone; by the database's clock alone. */
export const SLOT_LEASE_MS = 90_000;

/** One of the connections that a wallet can have. `_id` is `<wallet>:<number>`. */
interface SlotDoc {
  _id: string;
  /** The process. */
  holder: string;
  /** The connection. */
  connection: string;
  until: Date;
}

const COLLECTION = 'websocket_slots';

export const SLOT_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: { holder: 1 } }, { key: { until: 1 } }] },
] as const satisfies CollectionIndexes[];

const LEASE_END = { $add: ['$$NOW', SLOT_LEASE_MS] };
/** Also where there is none yet. */
const IS_FREE = { $not: [{ $gt: ['$until', '$$NOW'] }] };
/** What was left behind disturbs nobody: it goes once nobody can come back to it. */
const IS_ABANDONED = { $expr: { $lt: ['$until', { $subtract: ['$$NOW', 3_600_000] }] } };

/** Which connections hold the slots of their wallets, over all processes: what keeps the cap. */
export class ConnectionSlotStore {
  readonly #slots: Collection<SlotDoc>;
  readonly #holder = randomUUID();

  constructor(db: Db) {
    this.#slots = db.collection(COLLECTION);
  }

  /** Takes a free slot for a connection; null when the wallet has none left. @param wallet in lower case */
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
      const slot = await this.#slots.findOneAndUpdate({ _id: id }, update, { upsert: true, returnDocument: 'after' });
      return slot?.connection === connection;
    } catch (error) {
      // Two at once made the first of this slot: the other one has it.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async release(id: string, connection: string): Promise<void> {
    await this.#slots.deleteOne({ _id: id, connection });
  }

  /**
   * A sign of life for connections of this process; what nobody gives one any more lapses with its lease.
   * Returns those among the given that have lost their slots to others.
   */
  async heartbeat(connections: readonly string[]): Promise<string[]> {
    const mine = { holder: this.#holder, connection: { $in: [...connections] } };
    const { matchedCount } = await this.#slots.updateMany(mine, [{ $set: { until: LEASE_END } }]);
    if (matchedCount >= connections.length) return [];
    const kept = await this.#slots.find(mine, { projection: { connection: 1 } }).toArray();
    const names = new Set(kept.map(({ connection }) => connection));
    return connections.filter((connection) => !names.has(connection));
  }

  /** Frees all slots of this process. */
  async releaseAll(): Promise<void> {
    await this.#slots.deleteMany({ holder: this.#holder });
  }

  /** Deletes what killed processes have left: for a job. */
  async purge(): Promise<void> {
    await this.#slots.deleteMany(IS_ABANDONED);
  }
}
