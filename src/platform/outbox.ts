import type { Collection } from 'mongodb';

/**
 * A change that is to be told to subscribers, written with the change itself in one atomic write and taken off again once it stands
 * in the event log (the "transactional outbox" without a transaction): a process that dies in between loses and doubles nothing.
 */
export interface OutboxEntry<Change extends string> {
  change: Change;
  /** When it happened. */
  at: Date;
}

/** A document that may have something to tell. */
interface DocWithOutbox {
  _id: string;
  outbox?: OutboxEntry<string>[];
}

/** The index by which documents with something to tell are found. */
export const OUTBOX_INDEX = { key: { 'outbox.change': 1 } } as const;

/** The documents of a collection that have something to tell. */
export async function findWithOutbox<Doc extends DocWithOutbox>(
  collection: Collection<Doc>,
): Promise<(Doc & Required<Pick<Doc, 'outbox'>>)[]> {
  const docs = toOutboxCollection(collection).find({ 'outbox.change': { $gt: '' } }, { hint: OUTBOX_INDEX.key });
  return (await docs.toArray()) as unknown as (Doc & Required<Pick<Doc, 'outbox'>>)[];
}

/** Takes off what these documents had to tell, by name: a change that came in meanwhile stays. */
export async function clearOutbox<Doc extends DocWithOutbox>(collection: Collection<Doc>, docs: readonly Doc[]): Promise<void> {
  const writes = docs.map(({ _id, outbox = [] }) => ({
    updateOne: { filter: { _id }, update: { $pull: { outbox: { change: { $in: outbox.map(({ change }) => change) } } } } },
  }));
  if (writes.length > 0) await toOutboxCollection(collection).bulkWrite(writes, { ordered: false });
}

function toOutboxCollection<Doc extends DocWithOutbox>(collection: Collection<Doc>): Collection<DocWithOutbox> {
  return collection as unknown as Collection<DocWithOutbox>;
}
