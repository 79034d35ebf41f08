import { createHash } from 'node:crypto';
import type { Db } from 'mongodb';

/** Digest of everything in each collection, by its name. */
export async function databaseState(db: Db): Promise<Record<string, string>> {
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name).toSorted();
  const digests: [string, string][] = [];
  for (const name of names) {
    const docs = (await db.collection(name).find().toArray()).map((doc) => JSON.stringify(doc)).toSorted();
    digests.push([name, `${docs.length} ${createHash('sha256').update(docs.join('\n')).digest('hex')}`]);
  }
  return Object.fromEntries(digests);
}
