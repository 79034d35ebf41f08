import { randomUUID } from 'node:crypto';
import {
  type Collection,
  type Db,
  type Document,
  type Filter,
  type IndexDescription,
  type IndexDescriptionInfo,
  MongoClient,
  type MongoClientOptions,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
  type OptionalUnlessRequiredId,
  ReadConcern,
  type UpdateFilter,
  type WriteConcernSettings,
} from 'mongodb';
import { getErrorMessage, isOracleError, OracleError } from '../errors.ts';
import { getTraceHeaders, getTracer, recordMongoSpans } from './tracing.ts';

/** Documents of a batch where a read may be large: the driver's own batches of 16 MB stay in the memory of both sides. */
export const LARGE_READ_BATCH = 500;

export interface Database {
  db: Db;
  client: MongoClient;
  /** @throws OracleError DATABASE_UNAVAILABLE */
  ping(): Promise<void>;
  /** Time of the server's clock. @throws OracleError DATABASE_UNAVAILABLE */
  now(): Promise<Date>;
  close(): Promise<void>;
}

export interface CollectionIndexes {
  collection: string;
  indexes: readonly IndexSpec[];
}

/** An `IndexDescription` that also accepts inferred constant lists with different keys. */
export type IndexSpec = Omit<IndexDescription, 'key'> & { key: Readonly<Record<string, number | undefined>> };

const DEFAULT_DATABASE = 'oracle';
/** Decisions need reads of the latest write, and a lost reply is asked for again by the driver; these options override the URI. */
const FIXED_OPTIONS: MongoClientOptions = { readPreference: 'primary', retryReads: true, retryWrites: true };
const TIMEOUT_OPTIONS: MongoClientOptions = { serverSelectionTimeoutMS: 5_000, connectTimeoutMS: 5_000, socketTimeoutMS: 60_000 };
/** Journaled: a killed server loses nothing. Without a replica set `w: 1`, since the embedded engine ignores its journal under `majority`. */
const toWriteConcern = (inReplicaSet: boolean): WriteConcernSettings => ({ w: inReplicaSet ? 'majority' : 1, journal: true });
/** What a majority has is not rolled back by a failover: a subscriber is sent nothing else, and no worker continues from anything else. */
const toReadConcern = (inReplicaSet: boolean) => (inReplicaSet ? { readConcern: new ReadConcern('majority') } : {});
/** Enforced by a signal: the driver's own limit does not end a command to an unresponsive server. */
const PING_TIMEOUT_MS = 3_000;
const DUPLICATE_KEY_CODE = 11000;
const NAMESPACE_NOT_FOUND_CODE = 26;

/** Of the URI, or `oracle`. No error contains the URI. @throws OracleError CONFIG_INVALID for an unreadable URI, DATABASE_UNAVAILABLE */
export async function connectMongo(uri: string, options: MongoClientOptions = {}): Promise<Database> {
  const client = createMongoClient(uri, { ...TIMEOUT_OPTIONS, ...FIXED_OPTIONS, appName: 'bitcoin-signal-oracle', ...options });
  const deadline = () => AbortSignal.timeout(PING_TIMEOUT_MS);
  try {
    const inReplicaSet = await isReplicaSet(client, uri);
    const db = client.db(getDatabaseName(uri), { writeConcern: toWriteConcern(inReplicaSet), ...toReadConcern(inReplicaSet) });
    return {
      db,
      client,
      ping: () =>
        wrapUnavailable('The database does not answer', uri, async () => void (await db.command({ ping: 1 }, { signal: deadline() }))),
      now: () => wrapUnavailable('The database does not say its time', uri, () => readDatabaseTime(db, deadline())),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** The server's clock, shared by all processes. The embedded engine's `hello` lacks it. */
export async function readDatabaseTime(db: Db, signal?: AbortSignal): Promise<Date> {
  const pipeline = [{ $documents: [{}] }, { $project: { now: '$$NOW' } }];
  const { cursor } = await db.command({ aggregate: 1, pipeline, cursor: {} }, signal === undefined ? {} : { signal });
  return cursor.firstBatch[0].now;
}

/** Whether the server belongs to a replica set; a router does, since it writes to some. */
async function isReplicaSet(client: MongoClient, uri: string): Promise<boolean> {
  const hello = await wrapUnavailable('Connecting to the database failed', uri, async () => {
    await client.connect();
    return client.db('admin').command({ hello: 1 }, { timeoutMS: PING_TIMEOUT_MS });
  });
  return hello.setName !== undefined || hello.msg === 'isdbgrid';
}

/**
 * Idempotent, also across processes. An index of the same keys and options is used whatever its name.
 * @throws OracleError CONFIG_INVALID with the command that mends an index that differs, DATABASE_UNAVAILABLE
 */
export async function ensureIndexes(db: Db, specs: readonly CollectionIndexes[]): Promise<void> {
  for (const { collection, indexes } of specs) {
    try {
      const missing = await findMissingIndexes(db, { collection, indexes });
      if (missing.length > 0) await db.collection(collection).createIndexes(missing as IndexDescription[]);
    } catch (cause) {
      if (isOracleError(cause)) throw cause;
      const message = `Creating the indexes of ${collection} failed: ${getErrorMessage(cause)}`;
      if (!isDuplicateKey(cause)) throw new OracleError('DATABASE_UNAVAILABLE', message, { cause });
      const suggestedAction = `Remove all but one of the documents of ${collection} that have these values, then start again.`;
      throw new OracleError('CONFIG_INVALID', message, { field: 'MONGODB_URI', suggestedAction, cause });
    }
  }
}

/** @throws OracleError CONFIG_INVALID for an index that has the same keys and differs, with the command that mends it */
export async function findMissingIndexes(db: Db, { collection, indexes }: CollectionIndexes): Promise<IndexSpec[]> {
  const existing = await listIndexes(db, collection);
  requireNoConflict(collection, existing, indexes);
  return indexes.filter((wanted) => !existing.some((index) => hasSameKeys(index, wanted)));
}

/** Empty for a collection that does not exist. */
async function listIndexes(db: Db, collection: string): Promise<IndexDescriptionInfo[]> {
  try {
    return await db.collection(collection).indexes();
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND_CODE) return [];
    throw error;
  }
}

/** Options that change what an index accepts, deletes or answers. A hidden index answers no query, and a query that names its keys fails. */
const COMPARED_OPTIONS = ['unique', 'expireAfterSeconds', 'sparse', 'partialFilterExpression', 'hidden', 'collation'] as const;

/** The server would accept some of these beside the wanted index: two indexes of the same keys make a query that names the keys fail. */
function requireNoConflict(collection: string, existing: readonly IndexDescriptionInfo[], indexes: readonly IndexSpec[]): void {
  for (const index of existing) {
    const wanted = indexes.find((spec) => hasSameKeys(index, spec));
    const problem = wanted === undefined ? describeTakenName(index, indexes) : describeDifference(index, wanted);
    if (problem === null) continue;
    const message = `Index ${index.name} on ${JSON.stringify(index.key)} of ${collection} is not the one of the service: ${problem}`;
    const command = `db.getCollection(${JSON.stringify(collection)}).dropIndex(${JSON.stringify(index.name)})`;
    const suggestedAction = `In mongosh, on the database of MONGODB_URI, run ${command}: the next start makes the index that is needed.`;
    throw new OracleError('CONFIG_INVALID', message, { field: 'MONGODB_URI', suggestedAction });
  }
}

/** The order of the keys is part of an index. */
function hasSameKeys({ key }: Pick<IndexDescriptionInfo, 'key'>, wanted: IndexSpec): boolean {
  return JSON.stringify(key) === JSON.stringify(wanted.key);
}

function describeDifference(index: IndexDescriptionInfo, wanted: IndexSpec): string | null {
  const differences = COMPARED_OPTIONS.flatMap((option) => {
    const [actual, needed] = [toText(index[option]), toText(wanted[option])];
    if (actual === needed) return [];
    if (actual === undefined) return [`it lacks ${option}: ${needed}`];
    return [`it has ${option}: ${actual}${needed === undefined ? '' : ` instead of ${needed}`}`];
  });
  return differences.length === 0 ? null : differences.join(', ');
}

/** Undefined for a default; some servers report the binary collation. */
function toText(value: IndexDescriptionInfo[(typeof COMPARED_OPTIONS)[number]]): string | undefined {
  const isDefault = value === false || (typeof value === 'object' && value.locale === 'simple');
  return isDefault ? undefined : JSON.stringify(value);
}

/** MongoDB names an index after its keys and directions. */
function describeTakenName({ name }: IndexDescriptionInfo, indexes: readonly IndexSpec[]): string | null {
  const owner = indexes.find((wanted) => (wanted.name ?? Object.entries(wanted.key).flat().join('_')) === name);
  return owner === undefined ? null : `it has the name of the one on ${JSON.stringify(owner.key)}`;
}

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY_CODE;
}

/** Whether a write was done; false when a unique index rejected it: of concurrent writers the first wins. */
export async function isFirstWrite(write: Promise<object | null>): Promise<boolean> {
  return (await write.catch(ignoreDuplicate)) !== null;
}

/** For `catch` of a write of which the first one counts: null when a unique index rejected it. */
export function ignoreDuplicate(error: unknown): null {
  if (!isDuplicateKey(error)) throw error;
  return null;
}

/** Inserts documents in order, up to the first that a unique index rejects; `complete` if all were inserted. */
export async function insertInOrder<Doc extends Document>(
  collection: Collection<Doc>,
  docs: readonly Doc[],
): Promise<{ inserted: number; complete: boolean }> {
  try {
    const { insertedCount } = await collection.insertMany(docs as OptionalUnlessRequiredId<Doc>[], { ordered: true });
    return { inserted: insertedCount, complete: true };
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return { inserted: (error as { result?: { insertedCount?: number } }).result?.insertedCount ?? 0, complete: false };
  }
}

/** Literal values for an update pipeline, which would evaluate strings that start with `$`. */
export function toLiterals<T extends object>(values: T): Record<string, { $literal: unknown }> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { $literal: value }]));
}

/** Errors of the driver after which the same command may succeed: no connection, no primary, or a server that stops, is too slow or has no space. */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (UNREACHABLE_ERRORS.some((kind) => error instanceof kind)) return true;
  if (!(error instanceof MongoServerError)) return false;
  // A bulk write wraps errors of its connection.
  if (error.errorResponse instanceof Error && isDatabaseUnreachable(error.errorResponse)) return true;
  return RETRYABLE_CODES.has(Number(error.code)) || RETRYABLE_LABELS.some((label) => error.hasErrorLabel(label));
}

/** DATABASE_UNAVAILABLE for a driver error that may pass; other errors unchanged. */
export function toDatabaseError(error: unknown): unknown {
  return isDatabaseUnreachable(error) ? new OracleError('DATABASE_UNAVAILABLE', 'The database does not answer', { cause: error }) : error;
}

const UNREACHABLE_ERRORS = [
  MongoNetworkError,
  MongoServerSelectionError,
  MongoOperationTimeoutError,
  MongoNotConnectedError,
  MongoWriteConcernError,
];

/** Set by the driver and the server on errors of elections, shutdowns and connections, also of bulk writes. */
const RETRYABLE_LABELS = ['RetryableWriteError', 'RetryableError', 'TransientTransactionError'];

/** Of servers that set no label: HostUnreachable to NotPrimaryOrSecondary (specification "Retryable Writes"), expired time limits, a full disk. */
const RETRYABLE_CODES = new Set([6, 7, 50, 64, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 14031]);

/** Replaces the URI, its user and its password in a text. */
function stripCredentials(text: string, uri: string): string {
  // Up to the last @: an unescaped one in the password makes a URI unreadable.
  const [user = '', password = ''] = /^\w[\w+]*:\/\/(.*)@/.exec(uri)?.[1].split(/:(.*)/) ?? [];
  const secrets = [uri, ...[password, user].flatMap((secret) => [secret, decodeUriText(secret)])];
  return secrets.filter((secret) => secret !== '').reduce((result, secret) => result.replaceAll(secret, '***'), text);
}

function decodeUriText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function createMongoClient(uri: string, options: MongoClientOptions): MongoClient {
  try {
    if (getTracer() === null) return new MongoClient(uri, options);
    const client = new MongoClient(uri, { ...options, monitorCommands: true });
    recordMongoSpans(client);
    return client;
  } catch (error) {
    // Without the cause, whose message contains the URI.
    throw new OracleError('CONFIG_INVALID', `MONGODB_URI cannot be used: ${stripCredentials(getErrorMessage(error), uri)}`, {
      field: 'MONGODB_URI',
    });
  }
}

/** The driver's default is `test`. */
function getDatabaseName(uri: string): string {
  const path = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]+)/.exec(uri)?.[1];
  return path ? decodeURIComponent(path) : DEFAULT_DATABASE;
}

async function wrapUnavailable<T>(what: string, uri: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    throw new OracleError('DATABASE_UNAVAILABLE', `${what}: ${stripCredentials(getErrorMessage(cause), uri)}`, {
      suggestedAction: 'Check that MONGODB_URI names a running server and valid credentials',
      cause,
    });
  }
}

/** A change to publish, written with the change itself: a process that dies in between neither loses nor duplicates an event. */
export interface OutboxEntry<Change extends string> {
  change: Change;
  at: Date;
  /** Distinguishes changes of the same kind and time. */
  id?: string;
  /** Of the request or job that made the change; its event's deliveries carry it on. */
  traceparent?: string;
}

export function createOutboxEntry<Change extends string>(change: Change, at: Date): OutboxEntry<Change> {
  return { change, at, id: randomUUID(), ...getTraceHeaders() };
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

/** Removes the given entries: a change written meanwhile stays. */
export async function clearOutbox<Doc extends DocWithOutbox>(collection: Collection<Doc>, docs: readonly Doc[]): Promise<void> {
  const writes = docs.map(({ _id, outbox = [] }) => ({
    updateOne: { filter: { _id }, update: { $pull: { outbox: { $in: outbox } } } as UpdateFilter<DocWithOutbox> },
  }));
  if (writes.length > 0) await toOutboxCollection(collection).bulkWrite(writes, { ordered: false });
}

function toOutboxCollection<Doc extends DocWithOutbox>(collection: Collection<Doc>): Collection<DocWithOutbox> {
  return collection as unknown as Collection<DocWithOutbox>;
}

/** Inserts a document unless one of its `_id` exists, and returns the stored one: of concurrent writers the first wins. */
export async function insertOrFind<Doc extends { _id: string }>(collection: Collection<Doc>, doc: Doc): Promise<Doc> {
  if (await isFirstWrite(collection.insertOne(doc as unknown as OptionalUnlessRequiredId<Doc>))) return doc;
  return (await collection.findOne({ _id: doc._id } as Filter<Doc>)) as Doc;
}
