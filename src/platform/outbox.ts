import type { Collection } from 'mongodb';
import { getTraceHeaders } from './tracing/active-trace.ts';

/** A change to publish, written with the change itself: a process that dies in between neither loses nor duplicates an event. */
export interface OutboxEntry<Change extends string> {
  change: Change;
  at: Date;
  /** Of the request or job that made the change; its event's deliveries carry it on. */
  traceparent?: string;
}

export function createOutboxEntry<Change extends string>(change: Change, at: Date): OutboxEntry<Change> {
  return { change, at, ...getTraceHeaders() };
}

export function pickTraceparent({ traceparent }: { traceparent?: string | undefined }): { traceparent?: string } {
  return traceparent === undefined ? {} : { traceparent };
}

interface DocWithOutbox {
  _id: string;
  outbox?: OutboxEntry<string>[];
}

export const OUTBOX_INDEX = { key: { 'outbox.change': 1 } } as const;

export async function findWithOutbox<Doc extends DocWithOutbox>(
  collection: Collection<Doc>,
): Promise<(Doc & Required<Pick<Doc, 'outbox'>>)[]> {
  const docs = toOutboxCollection(collection).find({ 'outbox.change': { $gt: '' } }, { hint: OUTBOX_INDEX.key });
  return (await docs.toArray()) as unknown as (Doc & Required<Pick<Doc, 'outbox'>>)[];
}

/** When the oldest unpublished change was written; null without one. Reads what is unpublished alone. */
export async function findOldestUnpublished<Doc extends DocWithOutbox>(collection: Collection<Doc>): Promise<Date | null> {
  const oldest = await toOutboxCollection(collection)
    .aggregate<{ at: Date }>([
      { $match: { 'outbox.change': { $gt: '' } } },
      { $unwind: '$outbox' },
      { $group: { _id: null, at: { $min: '$outbox.at' } } },
    ])
    .next();
  return oldest?.at ?? null;
}

/** Removes the given entries by name: a change written meanwhile stays. */
export async function clearOutbox<Doc extends DocWithOutbox>(collection: Collection<Doc>, docs: readonly Doc[]): Promise<void> {
  const writes = docs.map(({ _id, outbox = [] }) => ({
    updateOne: { filter: { _id }, update: { $pull: { outbox: { change: { $in: outbox.map(({ change }) => change) } } } } },
  }));
  if (writes.length > 0) await toOutboxCollection(collection).bulkWrite(writes, { ordered: false });
}

function toOutboxCollection<Doc extends DocWithOutbox>(collection: Collection<Doc>): Collection<DocWithOutbox> {
  return collection as unknown as Collection<DocWithOutbox>;
}
