import type { Collection, Db } from 'mongodb';
import { withTimeout } from '../../platform/concurrency/with-timeout.ts';
import { type CollectionIndexes, ignoreDuplicate, readDatabaseTime } from '../../platform/mongo.ts';

const COLLECTION = 'request_counts';

export const REQUEST_COUNT_INDEXES: CollectionIndexes[] = [
  { collection: COLLECTION, indexes: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }] },
];

interface RequestCountDoc {
  _id: string;
  taken: number;
  expiresAt: Date;
}

export interface RequestCountStore {
  /** Increments a counter and returns its value. Rejects when the database does not answer within a second. */
  add(id: string, count: number, expiresAt: Date): Promise<number>;
}

const TIMEOUT_MS = 1_000;
const PURGE_INTERVAL_MS = 60_000;

/**
 * Counters in the database. Each process purges expired ones about once a minute, since the embedded engine has no TTL indexes; by the
 * database's clock, so that a process whose clock is ahead deletes no counts of the others.
 */
export function createRequestCountStore(db: Db, now: () => Date): RequestCountStore {
  // A crash may lose a count, so writes do not wait for the journal.
  const counts: Collection<RequestCountDoc> = db.collection(COLLECTION, { writeConcern: { w: 1, journal: false } });
  let purgedAtMs = now().getTime();

  async function add(id: string, count: number, expiresAt: Date): Promise<number> {
    const update = { $inc: { taken: count }, $setOnInsert: { expiresAt } };
    const doc = await counts.findOneAndUpdate({ _id: id }, update, { upsert: true, returnDocument: 'after' });
    return doc?.taken ?? count;
  }

  async function deleteExpired(): Promise<void> {
    await counts.deleteMany({ expiresAt: { $lt: await readDatabaseTime(db) } });
  }

  function purge(): void {
    const atMs = now().getTime();
    if (Math.abs(atMs - purgedAtMs) < PURGE_INTERVAL_MS) return;
    purgedAtMs = atMs;
    // Best effort: the next purge retries.
    deleteExpired().catch(() => undefined);
  }

  return {
    async add(id, count, expiresAt) {
      purge();
      // Again after a lost race of two upserts: the counter exists then.
      const added = add(id, count, expiresAt).catch((error) => ignoreDuplicate(error) ?? add(id, count, expiresAt));
      // The driver's `timeoutMS` does not abort an operation of a server that is connected but silent.
      return withTimeout(TIMEOUT_MS, added, () => new Error(`no answer in ${TIMEOUT_MS} ms`));
    },
  };
}
