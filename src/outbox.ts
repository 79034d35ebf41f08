import type { Collection } from 'mongodb';

/**
 * A change that is to be told to subscribers, written with the change itself in one atomic write and taken off again once it stands
 * in the event log (the "transactional outbox" without a transaction): a process that dies in between loses and doubles nothing.
 */
export interface Outboxed<Change extends string> {
  change: Change;
  /** When it happened. */
  at: Date;
}

/** A document that may have something to tell. */
interface WithOutbox {
  _id: string;
  outbox?: Outboxed<string>[];
}

/** The index by which documents with something to tell are found. */
export const OUTBOX_INDEX = { key: { 'outbox.change': 1 } } as const;

/** The documents of a collection that have something to tell. */
export async function withOutbox<Doc extends WithOutbox>(collection: Collection<Doc>): Promise<(Doc & Required<Pick<Doc, 'outbox'>>)[]> {
  const docs = plain(collection).find({ 'outbox.change': { $gt: '' } }, { hint: OUTBOX_INDEX.key });
  return (await docs.toArray()) as unknown as (Doc & Required<Pick<Doc, 'outbox'>>)[];
}

/** Takes off what these documents had to tell, by name: a change that came in meanwhile stays. */
export async function clearOutbox<Doc extends WithOutbox>(collection: Collection<Doc>, docs: readonly Doc[]): Promise<void> {
  const writes = docs.map(({ _id, outbox = [] }) => ({
    updateOne: { filter: { _id }, update: { $pull: { outbox: { change: { $in: outbox.map(({ change }) => change) } } } } },
  }));
  if (writes.length > 0) await plain(collection).bulkWrite(writes, { ordered: false });
}

function plain<Doc extends WithOutbox>(collection: Collection<Doc>): Collection<WithOutbox> {
  return collection as unknown as Collection<WithOutbox>;
}
