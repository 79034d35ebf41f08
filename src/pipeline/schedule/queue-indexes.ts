import type { CollectionIndexes } from '../../platform/mongo.ts';

export const JOBS_COLLECTION = 'jobs';

/** The only index that has it: what is asked with this hint is asked of nothing else. */
export const QUEUED_INDEX_KEY = { 'data.queued': 1 } as const;

/** Jobs that are no queued items have none. The other index of the collection is Agenda's own. */
export const QUEUE_INDEXES = [
  { collection: JOBS_COLLECTION, indexes: [{ key: QUEUED_INDEX_KEY, unique: true, sparse: true }] },
] as const satisfies CollectionIndexes[];
