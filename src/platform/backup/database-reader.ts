import {
  type CollectionInfo,
  type Db,
  type Document,
  type FindOptions,
  MongoCompatibilityError,
  MongoServerError,
  ReadConcern,
} from 'mongodb';
import { type Database, isDatabaseUnreachable } from '../mongo.ts';

/** `snapshot`: everything as of one instant of the database. `ordered`: one collection after the other, as `CopyOrder` says. */
export type Consistency = 'snapshot' | 'ordered';

export interface StoredCollection {
  name: string;
  options: Document;
  /** As `listIndexes` names them, without that of `_id`. */
  indexes: Document[];
}

export interface DatabaseReader {
  consistency: Consistency;
  listCollections(): Promise<StoredCollection[]>;
  /** Raw documents, each once. */
  readDocuments(name: string): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

const BATCH_SIZE = 1_000;
/** SnapshotTooOld, SnapshotUnavailable: a backup has taken longer than the server keeps history, five minutes unless configured. */
const SNAPSHOT_LOST_CODES: readonly unknown[] = [239, 246];
/** The server keeps the others itself. */
const isOwnCollection = ({ name, type }: { name: string; type?: string }) => type === 'collection' && !name.startsWith('system.');

/** Reads a snapshot where the server has one, which takes a replica set; else what is stored at each read. @throws errors of the driver */
export async function openDatabaseReader(database: Pick<Database, 'db' | 'client'>): Promise<DatabaseReader> {
  return (await openSnapshot(database)) ?? createReader(database.db, 'ordered', {});
}

/** Without a snapshot, for a database whose snapshots end before a backup does. */
export const openOrderedReader = ({ db }: Pick<Database, 'db'>): DatabaseReader => createReader(db, 'ordered', {});

export const isSnapshotLost = (error: unknown): boolean => error instanceof MongoServerError && SNAPSHOT_LOST_CODES.includes(error.code);

/** Null where the server has no snapshots. */
async function openSnapshot({ db, client }: Pick<Database, 'db' | 'client'>): Promise<DatabaseReader | null> {
  const session = client.startSession({ snapshot: true });
  // The read concern of the database would replace that of the session.
  const snapshotDb = client.db(db.databaseName, { readConcern: new ReadConcern('snapshot') });
  try {
    // The first read sets the instant: collections are listed after it, so that none of its is missing.
    await snapshotDb.collection('backups').findOne({}, { session, projection: { _id: 1 } });
  } catch (error) {
    await session.endSession();
    if (isDatabaseUnreachable(error) || !(error instanceof MongoServerError || error instanceof MongoCompatibilityError)) throw error;
    return null;
  }
  const reader = createReader(snapshotDb, 'snapshot', { session });
  return { ...reader, close: () => session.endSession() };
}

function createReader(db: Db, consistency: Consistency, options: FindOptions): DatabaseReader {
  return {
    consistency,
    async listCollections() {
      const infos = (await db.listCollections().toArray()) as CollectionInfo[];
      const own = infos.filter(isOwnCollection).toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return Promise.all(
        own.map(async ({ name, options: stored = {} }) => ({ name, options: stored, indexes: await listIndexes(db, name) })),
      );
    },
    async *readDocuments(name) {
      // In storage order, in which a document keeps its place when it changes.
      const cursor = db.collection(name).find({}, { ...options, raw: true, batchSize: BATCH_SIZE });
      for await (const document of cursor) yield document as unknown as Buffer;
    },
    close: async () => {},
  };
}

async function listIndexes(db: Db, name: string): Promise<Document[]> {
  const indexes = await db.collection(name).listIndexes().toArray();
  return indexes.filter((index) => index.name !== '_id_');
}
