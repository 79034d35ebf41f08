import type { Db, Document, IndexDescription } from 'mongodb';
import { OracleError } from '../errors.ts';
import { openOrderedReader, type StoredCollection } from './database-reader.ts';
import type { BackupHeader } from './dump-database.ts';
import { DocumentsDigest } from './format/documents-digest.ts';
import { decodeExactly } from './format/exact-bson.ts';
import { type BackupContents, type CollectionDigest, readBackup } from './read-backup.ts';
import { clearRestoreMarker, findRestoreMarker, MARKER_COLLECTION, setRestoreMarker } from './restore-marker.ts';

export interface RestoreOptions {
  db: Db;
  path: string;
  /** 32 bytes. */
  key: Buffer;
  /** Throws unless the backup belongs here. Called before anything is written. */
  requireOwn(header: BackupHeader): void;
}

/**
 * Into an empty database, or over what an interrupted restore has left. The whole file is checked before anything is written, and what is written
 * is read back. Until the end a marker keeps every start away. @throws OracleError CONFLICT naming what the database holds; as `readBackup`
 */
export async function restoreDatabase({ db, path, key, requireOwn }: RestoreOptions): Promise<BackupContents> {
  const contents = await readBackup(path, key, { onHeader: requireOwn });
  const owner = await claimDatabase(db);
  await readBackup(path, key, {
    onCollection: async ({ name, options }) => void (await db.createCollection(name, options)),
    onDocuments: async (name, raw) => {
      // Without `_id` a document would get one from the driver, and differ.
      await db.collection(name).insertMany(raw.map(decodeExactly), { ordered: true, forceServerObjectId: true });
    },
    onCollectionEnd: (collection, digest) => completeCollection(db, collection, digest),
  });
  if (!(await clearRestoreMarker(db, owner))) throw interferedError('another restore has begun meanwhile');
  return contents;
}

async function claimDatabase(db: Db): Promise<string> {
  const isContinued = (await findRestoreMarker(db)) !== null;
  const found = (await db.listCollections().toArray()).filter(({ name }) => name !== MARKER_COLLECTION && !name.startsWith('system.'));
  if (!isContinued) await requireEmpty(db, found);
  const owner = await setRestoreMarker(db);
  for (const { name } of found) await db.collection(name).drop();
  return owner;
}

async function requireEmpty(db: Db, found: readonly { name: string }[]): Promise<void> {
  const counts = await Promise.all(found.map(async ({ name }) => ({ name, count: await db.collection(name).estimatedDocumentCount() })));
  const filled = counts.filter(({ count }) => count > 0);
  if (filled.length === 0) return;
  const listed = filled.slice(0, 5).map(({ name, count }) => `${name} (${count})`);
  const more = filled.length > listed.length ? ` and ${filled.length - listed.length} more collections` : '';
  throw new OracleError('CONFLICT', `The database ${db.databaseName} is not empty: it holds ${listed.join(', ')}${more}`, {
    field: 'MONGODB_URI',
    suggestedAction: 'Nothing was changed. Name an empty database in MONGODB_URI, or drop this one yourself if nothing in it is needed.',
  });
}

/** Read back before the indexes are made: one that expires documents would delete some. */
async function completeCollection(db: Db, { name, indexes }: StoredCollection, written: CollectionDigest): Promise<void> {
  const stored = new DocumentsDigest();
  for await (const raw of openOrderedReader({ db }).readDocuments(name)) stored.add(raw);
  if (stored.documents !== written.documents || stored.sha256 !== written.sha256) throw interferedError(`${name} is not as in the backup`);
  if (indexes.length > 0) await db.collection(name).createIndexes(indexes.map(toIndexDescription));
}

/** The version is the server's. */
function toIndexDescription({ v: _, ns: __, ...index }: Document): IndexDescription {
  return index as IndexDescription;
}

function interferedError(why: string): OracleError {
  return new OracleError('CONFLICT', `The restore has failed: ${why}`, {
    field: 'MONGODB_URI',
    suggestedAction: 'Let no other program write to the database, and run svc restore again with the same file.',
  });
}
