import type { CollectionIndexes } from '../../platform/mongo.ts';

export const JOBS_COLLECTION = 'jobs';

/** Key of the only index on `data.queued`; used as a hint. */
export const QUEUED_INDEX_KEY = { 'data.queued': 1 } as const;

/** Recurring jobs lack the field, hence sparse. Agenda creates its own index on this collection. */
export const QUEUE_INDEXES = [
  { collection: JOBS_COLLECTION, indexes: [{ key: QUEUED_INDEX_KEY, unique: true, sparse: true }] },
] as const satisfies CollectionIndexes[];
