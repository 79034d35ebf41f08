import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import {
  BSON,
  type CollectionInfo,
  type Db,
  type Document,
  type FindOptions,
  type IndexDescription,
  MongoCompatibilityError,
  MongoServerError,
  ObjectId,
  ReadConcern,
} from 'mongodb';
import { OracleError } from '../errors.ts';
import {
  DocumentsDigest,
  damagedBackupError,
  decodeExactly,
  decryptChunks,
  encodeDocumentFrame,
  encodeFrame,
  encryptChunks,
  FRAME,
  type Frame,
  newerFormatError,
  readFrames,
  splitDocuments,
} from './backup-format.ts';
import { type Database, isDatabaseUnreachable } from './mongo.ts';
import { makeFolder, replaceFile } from './secrets.ts';

const NAME = /^oracle-\d+-\d{8}T\d{6}Z\.backup$/;
/** Left by a process killed while it wrote. */
const TEMPORARY_NAME = /^oracle-\d+-\d{8}T\d{6}Z\.backup\.[0-9a-f-]{36}\.tmp$/;
const TEMPORARY_EXPIRES_MS = 86_400_000;

interface StoredBackup {
  name: string;
  path: string;
  bytes: number;
}

/** Names sort by time. */
export function formatBackupName(chainId: number, at: Date): string {
  return `oracle-${chainId}-${at.toISOString().replace(/[-:]|\.\d+/g, '')}.backup`;
}

export async function ensureBackupFolder(folder: string): Promise<void> {
  await makeFolder(folder);
}

/** Newest first; other files are left out. */
export async function listBackups(folder: string): Promise<StoredBackup[]> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name));
  const found = names.map(async (name) => ({ name, path: join(folder, name), bytes: (await stat(join(folder, name))).size }));
  return (await Promise.all(found)).toSorted((a, b) => (getTime(a) < getTime(b) ? 1 : -1));
}

/** Deletes all but the newest backups of a chain, and what killed processes have left. Returns the names of the deleted backups. */
export async function pruneBackups(
  folder: string,
  { chainId, keep, now }: { chainId: number; keep: number; now: Date },
): Promise<string[]> {
  const own = (await listBackups(folder)).filter(({ name }) => name.startsWith(`oracle-${chainId}-`));
  const expired = own.slice(keep);
  for (const { path } of expired) await rm(path, { force: true });
  for (const name of (await readdir(folder)).filter((entry) => TEMPORARY_NAME.test(entry))) {
    const { mtimeMs } = await stat(join(folder, name));
    if (now.getTime() - mtimeMs > TEMPORARY_EXPIRES_MS) await rm(join(folder, name), { force: true });
  }
  return expired.map(({ name }) => name);
}

const getTime = ({ name }: StoredBackup) => name.split('-')[2]!;

interface WriteBackupOptions extends Omit<DumpOptions, 'reader'> {
  database: Pick<Database, 'db' | 'client'>;
  /** 32 bytes. */
  key: Buffer;
  path: string;
  signal?: AbortSignal;
}

interface WrittenBackup extends BackupContents {
  path: string;
  /** Of the file. */
  fileBytes: number;
}

const MAX_ATTEMPTS = 20;
const PAUSE_MS = 1_000;

/** Writes to a temporary file, reads it back, and gives it its name only then. @throws OracleError CONFLICT, STEP_WAITING; file system errors */
export async function writeBackup(options: WriteBackupOptions): Promise<WrittenBackup> {
  const { path, signal } = options;
  await requireNewFile(path);
  let isSnapshot = true;
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeOnce(options, isSnapshot);
    } catch (error) {
      if (isSnapshotLost(error) && isSnapshot) isSnapshot = false;
      else if (!(error instanceof ChangedDuringCopyError)) throw error;
      else if (attempt === MAX_ATTEMPTS) {
        const message = `The record has changed during each of ${MAX_ATTEMPTS} copies`;
        throw new OracleError('STEP_WAITING', message, {
          suggestedAction: 'Repeat it once the steps of the day are done.',
          cause: error,
        });
      }
    }
    await delay(PAUSE_MS, undefined, { signal });
  }
}

async function writeOnce({ database, key, path, signal, ...dump }: WriteBackupOptions, isSnapshot: boolean): Promise<WrittenBackup> {
  const reader = isSnapshot ? await openDatabaseReader(database) : openOrderedReader(database);
  let contents: BackupContents | undefined;
  try {
    const check = async (temporary: string) => {
      contents = await readBackup(temporary, key);
    };
    await replaceFile(path, encryptChunks(key, compress(untilAborted(dumpDatabase({ ...dump, reader }), signal))), { check });
  } finally {
    await reader.close();
  }
  return { ...contents!, path, fileBytes: (await stat(path)).size };
}

async function* untilAborted(frames: AsyncIterable<Buffer>, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  for await (const frame of frames) {
    signal?.throwIfAborted();
    yield frame;
  }
}

async function* compress(plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gzip = createGzip();
  // Its error destroys the stream, whose reader gets it.
  const pumping = pipeline(Readable.from(plain), gzip).catch(() => undefined);
  try {
    yield* gzip;
  } finally {
    gzip.destroy();
    await pumping;
  }
}

async function requireNewFile(path: string): Promise<void> {
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (exists) throw new OracleError('CONFLICT', `${path} exists: a backup replaces no file`, { field: 'out' });
}

/** `snapshot`: everything as of one instant of the database. `ordered`: one collection after the other, as `CopyOrder` says. */
type Consistency = 'snapshot' | 'ordered';

interface StoredCollection {
  name: string;
  options: Document;
  /** As `listIndexes` names them, without that of `_id`. */
  indexes: Document[];
}

interface DatabaseReader {
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
const openOrderedReader = ({ db }: Pick<Database, 'db'>): DatabaseReader => createReader(db, 'ordered', {});

const isSnapshotLost = (error: unknown): boolean => error instanceof MongoServerError && SNAPSHOT_LOST_CODES.includes(error.code);

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

const BACKUP_FORMAT = 1;

/**
 * What makes a copy that was read piece by piece the state of a database whose processes were killed, without a snapshot. Everything the service
 * writes in several places is written cause first (intent, then effect), and each step may be repeated from any point between two writes. So a
 * copy is good when it has the cause of each effect that it has:
 * - effects are read before their causes. A cause read later is at least as new as all of its effects, and a missing effect is repeated;
 * - where causes and effects go in a circle (a forecast is the cause of a transaction, whose receipt goes into the forecast), no order does. Such
 *   collections are `stable`: they are read again after everything else, and a copy during which they have changed is thrown away.
 */
export interface CopyOrder {
  /** Read first, and again at the end. */
  stable: readonly string[];
  /** Effects, read next. Then come all that are not named. */
  early: readonly string[];
  /** Causes, read last, in this order. */
  late: readonly string[];
}

interface DumpOptions {
  reader: DatabaseReader;
  order: CopyOrder;
  /** Facts of the stable collections and of the deployment; written into the header. */
  describe(): Promise<Document>;
}

interface BackupHeader extends Document {
  format: number;
  createdAt: Date;
  consistency: DatabaseReader['consistency'];
}

/** Stable collections have changed while they were copied: try again. */
class ChangedDuringCopyError extends Error {}

const MAX_BATCH_BYTES = 262_144;

/** The frames of a backup. @throws ChangedDuringCopyError, errors of the driver */
async function* dumpDatabase({ reader, order, describe }: DumpOptions): AsyncGenerator<Buffer> {
  const described = await describe();
  yield encodeDocumentFrame(FRAME.header, { format: BACKUP_FORMAT, createdAt: new Date(), consistency: reader.consistency, ...described });
  const totals = { collections: 0, documents: 0, bytes: 0 };
  const digests = new Map<string, string>();
  for (const collection of sortCollections(await reader.listCollections(), order)) {
    const digest = yield* dumpCollection(reader, collection);
    digests.set(collection.name, digest.sha256);
    totals.collections += 1;
    totals.documents += digest.documents;
    totals.bytes += digest.bytes;
  }
  if (reader.consistency === 'ordered') await requireUnchanged({ reader, order, describe }, described, digests);
  yield encodeDocumentFrame(FRAME.footer, totals);
}

function sortCollections(collections: readonly StoredCollection[], { stable, early, late }: CopyOrder): StoredCollection[] {
  const ranked = [...stable, ...early];
  const rank = ({ name }: StoredCollection) => {
    if (late.includes(name)) return ranked.length + 1 + late.indexOf(name);
    return ranked.includes(name) ? ranked.indexOf(name) : ranked.length;
  };
  return collections.toSorted((a, b) => rank(a) - rank(b));
}

async function* dumpCollection(reader: DatabaseReader, collection: StoredCollection): AsyncGenerator<Buffer, DocumentsDigest> {
  yield encodeDocumentFrame(FRAME.collection, collection);
  const digest = new DocumentsDigest();
  let batch: Buffer[] = [];
  let batchBytes = 0;
  for await (const raw of reader.readDocuments(collection.name)) {
    digest.add(raw);
    batch.push(raw);
    batchBytes += raw.length;
    if (batchBytes < MAX_BATCH_BYTES) continue;
    yield encodeFrame(FRAME.documents, batch);
    [batch, batchBytes] = [[], 0];
  }
  if (batch.length > 0) yield encodeFrame(FRAME.documents, batch);
  const { documents, bytes, sha256 } = digest;
  yield encodeDocumentFrame(FRAME.collectionEnd, { name: collection.name, documents, bytes, sha256 });
  return digest;
}

async function requireUnchanged(
  { reader, order, describe }: DumpOptions,
  described: Document,
  digests: ReadonlyMap<string, string>,
): Promise<void> {
  for (const name of order.stable) {
    const digest = new DocumentsDigest();
    for await (const raw of reader.readDocuments(name)) digest.add(raw);
    if (digest.sha256 !== (digests.get(name) ?? new DocumentsDigest().sha256)) throw new ChangedDuringCopyError(`${name} has changed`);
  }
  if (!isDeepStrictEqual(await describe(), described)) throw new ChangedDuringCopyError('The record has changed');
}

/** Gets what a backup holds, in its order. */
interface BackupVisitor {
  onHeader?(header: BackupHeader): Promise<void> | void;
  onCollection?(collection: StoredCollection): Promise<void>;
  onDocuments?(name: string, raw: Buffer[]): Promise<void>;
  /** The documents of the collection have the counts and the digest of its end. */
  onCollectionEnd?(collection: StoredCollection, digest: CollectionDigest): Promise<void>;
}

type CollectionDigest = Pick<DocumentsDigest, 'documents' | 'bytes' | 'sha256'>;

export interface BackupContents {
  header: BackupHeader;
  collections: number;
  documents: number;
  /** Of the documents, uncompressed. */
  bytes: number;
}

/** Reads a whole backup in bounded memory and checks all of it. @throws OracleError INPUT_INVALID, CONFIG_INVALID for another key */
export async function readBackup(path: string, key: Buffer, visitor: BackupVisitor = {}): Promise<BackupContents> {
  const state: ReadState = {
    header: null,
    collection: null,
    digest: new DocumentsDigest(),
    totals: { collections: 0, documents: 0, bytes: 0 },
  };
  let isComplete = false;
  await pipeline(
    createReadStream(path),
    (sealed: AsyncIterable<Buffer>) => decryptChunks(key, sealed),
    createGunzip(),
    async (plain: AsyncIterable<Buffer>) => {
      for await (const frame of readFrames(plain)) {
        if (isComplete) throw damagedBackupError('it goes on after its end');
        isComplete = await readFrame(frame, state, visitor);
      }
    },
  ).catch((error: unknown) => {
    throw isFileError(error) ? damagedBackupError(error.message, error) : error;
  });
  if (state.header === null || !isComplete) throw damagedBackupError('it has no end');
  return { header: state.header, ...state.totals };
}

/** Of the file system: it is missing, a folder, or not readable. */
const isFileError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && 'syscall' in error;

/** The header alone: the rest is neither read nor checked. @throws OracleError as `readBackup` */
export async function readBackupHeader(path: string, key: Buffer): Promise<BackupHeader> {
  let found: BackupHeader | undefined;
  const stop = new Error('the header is read');
  const onHeader = (header: BackupHeader) => {
    found = header;
    throw stop;
  };
  await readBackup(path, key, { onHeader }).catch((error: unknown) => {
    if (error !== stop) throw error;
  });
  return found!;
}

interface ReadState {
  header: BackupHeader | null;
  collection: StoredCollection | null;
  digest: DocumentsDigest;
  totals: Omit<BackupContents, 'header'>;
}

/** Resolves to whether this was the last frame. */
async function readFrame({ kind, content }: Frame, state: ReadState, visitor: BackupVisitor): Promise<boolean> {
  if ((state.header === null) !== (kind === FRAME.header)) throw damagedBackupError('its frames are in no order that this version knows');
  const { collection } = state;
  switch (kind) {
    case FRAME.header:
      state.header = parseHeader(content);
      await visitor.onHeader?.(state.header);
      return false;
    case FRAME.collection:
      state.collection = BSON.deserialize(content) as StoredCollection;
      state.digest = new DocumentsDigest();
      await visitor.onCollection?.(state.collection);
      return false;
    case FRAME.documents: {
      const raw = [...splitDocuments(content)];
      for (const document of raw) state.digest.add(document);
      await visitor.onDocuments?.(collection!.name, raw);
      return false;
    }
    case FRAME.collectionEnd:
      requireSameDigest(state.digest, BSON.deserialize(content));
      addTotals(state);
      await visitor.onCollectionEnd?.(collection!, state.digest);
      return false;
    case FRAME.footer:
      requireSameTotals(state.totals, BSON.deserialize(content));
      return true;
  }
}

function parseHeader(content: Buffer): BackupHeader {
  const header = BSON.deserialize(content) as BackupHeader;
  if (header.format !== BACKUP_FORMAT) throw newerFormatError(header.format);
  return header;
}

function requireSameDigest(digest: DocumentsDigest, { name, documents, sha256 }: Document): void {
  if (digest.documents === documents && digest.sha256 === sha256) return;
  throw damagedBackupError(`the documents of ${name} are not those that were written`);
}

function addTotals({ totals, digest }: ReadState): void {
  totals.collections += 1;
  totals.documents += digest.documents;
  totals.bytes += digest.bytes;
}

function requireSameTotals(totals: ReadState['totals'], written: Document): void {
  const isSame = totals.collections === written.collections && totals.documents === written.documents && totals.bytes === written.bytes;
  if (!isSame) throw damagedBackupError('it lacks collections that were written');
}

/** A backup that was written and read back. */
interface BackupLogDoc {
  _id: ObjectId;
  finishedAt: Date;
  /** Always true: a backup that does not verify gets no entry. */
  verified: true;
  /** Of the file. */
  bytes: number;
  documents: number;
  /** Last sequence of the record in it, by horizon. */
  sequence: Record<string, number>;
}

const COLLECTION = 'backups';

export const BACKUP_LOG_INDEXES = [{ collection: COLLECTION, indexes: [{ key: { finishedAt: -1 } }] }];

export async function recordBackup(db: Db, entry: Omit<BackupLogDoc, '_id' | 'verified'>): Promise<void> {
  await db.collection<BackupLogDoc>(COLLECTION).insertOne({ _id: new ObjectId(), ...entry, verified: true });
}

/** When the newest backup was finished; null without one. */
export async function findLastBackupAt(db: Db): Promise<Date | null> {
  const last = await db.collection<BackupLogDoc>(COLLECTION).findOne({ verified: true }, { sort: { finishedAt: -1 } });
  return last?.finishedAt ?? null;
}

interface RestoreOptions {
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

interface MarkerDoc {
  _id: 'restore';
  owner: string;
  startedAt: Date;
}

/** Holds one document while a restore is under way; nothing else uses the database until it is gone. */
const MARKER_COLLECTION = 'restore_state';

const openMarkers = (db: Db) => db.collection<MarkerDoc>(MARKER_COLLECTION);

function findRestoreMarker(db: Db): Promise<MarkerDoc | null> {
  return openMarkers(db).findOne({ _id: 'restore' });
}

/** Replaces that of an interrupted restore. Returns its owner. */
async function setRestoreMarker(db: Db): Promise<string> {
  const owner = randomUUID();
  await openMarkers(db).updateOne({ _id: 'restore' }, { $set: { owner, startedAt: new Date() } }, { upsert: true });
  return owner;
}

/** False when another restore has set its own meanwhile. */
async function clearRestoreMarker(db: Db, owner: string): Promise<boolean> {
  const { deletedCount } = await openMarkers(db).deleteOne({ _id: 'restore', owner });
  if (deletedCount === 0) return false;
  await openMarkers(db).drop();
  return true;
}

/** For every start. @throws OracleError CONFIG_INVALID when a restore was interrupted or is under way */
export async function requireNoOpenRestore(db: Db): Promise<void> {
  const marker = await findRestoreMarker(db);
  if (marker === null) return;
  const problem = `holds a restore of ${marker.startedAt.toISOString()} that was not completed`;
  throw new OracleError('CONFIG_INVALID', `Setting MONGODB_URI: the database ${problem}`, {
    field: 'MONGODB_URI',
    suggestedAction: 'Run svc restore again with the same file: it begins anew. If one is running, wait for its end.',
  });
}
