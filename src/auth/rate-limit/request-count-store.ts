import type { Collection, Db } from 'mongodb';
import { type CollectionIndexes, isDuplicateKey } from '../../platform/mongo.ts';

const COLLECTION = 'request_counts';

export const REQUEST_COUNT_INDEXES: CollectionIndexes[] = [
  { collection: COLLECTION, indexes: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }] },
];

interface RequestCountDoc {
  /** Policy, client and window. */
  _id: string;
  taken: number;
  expiresAt: Date;
}

/** Counters that all processes share. */
export interface RequestCountStore {
  /** Adds to a counter and gives its sum. Rejects when the database does not answer within a second. */
  add(id: string, requests: number, expiresAt: Date): Promise<number>;
}

const TIMEOUT_MS = 1_000;
const PURGE_INTERVAL_MS = 60_000;

/** Counters in the database; each process deletes what is over about once a minute, since not every engine does it by itself. */
export function createRequestCountStore(db: Db, now: () => Date): RequestCountStore {
  // A count that a crash loses does no harm: nobody waits for the journal.
  const counts: Collection<RequestCountDoc> = db.collection(COLLECTION, { writeConcern: { w: 1, journal: false } });
  let purgedAtMs = now().getTime();

  async function add(id: string, requests: number, expiresAt: Date): Promise<number> {
    const update = { $inc: { taken: requests }, $setOnInsert: { expiresAt } };
    const doc = await counts.findOneAndUpdate({ _id: id }, update, { upsert: true, returnDocument: 'after' });
    return doc?.taken ?? requests;
  }

  function purge(): void {
    const at = now();
    if (at.getTime() - purgedAtMs < PURGE_INTERVAL_MS) return;
    purgedAtMs = at.getTime();
    // Nobody depends on it, and the next minute tries again.
    counts.deleteMany({ expiresAt: { $lt: at } }).catch(() => undefined);
  }

  return {
    async add(id, requests, expiresAt) {
      purge();
      return withTimeout(
        add(id, requests, expiresAt).catch((error: unknown) => {
          // Two first requests at once: the second finds the counter.
          if (isDuplicateKey(error)) return add(id, requests, expiresAt);
          throw error;
        }),
      );
    },
  };
}

/** The driver's own `timeoutMS` does not end an operation whose server is there and silent. */
async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer in ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
