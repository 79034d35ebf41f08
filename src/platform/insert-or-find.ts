import type { Collection, Filter, OptionalUnlessRequiredId } from 'mongodb';
import { isFirstWrite } from './mongo.ts';

/** Inserts a document unless one of its `_id` exists, and returns the stored one: of concurrent writers the first wins. */
export async function insertOrFind<Doc extends { _id: string }>(collection: Collection<Doc>, doc: Doc): Promise<Doc> {
  if (await isFirstWrite(collection.insertOne(doc as unknown as OptionalUnlessRequiredId<Doc>))) return doc;
  return (await collection.findOne({ _id: doc._id } as Filter<Doc>)) as Doc;
}
