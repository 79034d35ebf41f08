import type { CollectionIndexes } from '../mongo.ts';

export const JOBS_COLLECTION = 'jobs';

/** The only index that has it: what is asked with this hint is asked of nothing else. */
export const BY_QUEUED = { 'data.queued': 1 } as const;

/** Jobs that are no queued items have none. The other index of the collection is Agenda's own. */
export const QUEUE_INDEXES = [
  { collection: JOBS_COLLECTION, indexes: [{ key: BY_QUEUED, unique: true, sparse: true }] },
] as const satisfies CollectionIndexes[];
