import {
  type Collection,
  type Db,
  type Document,
  type IndexDescription,
  MongoClient,
  type MongoClientOptions,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  type OptionalUnlessRequiredId,
  type WriteConcernSettings,
} from 'mongodb';
import { getErrorMessage, OracleError } from './errors.ts';

export interface Database {
  db: Db;
  client: MongoClient;
  /** Throws DATABASE_UNAVAILABLE when the server does not answer. */
  ping(): Promise<void>;
  /** The server's clock. Throws DATABASE_UNAVAILABLE when it does not answer. */
  now(): Promise<Date>;
  close(): Promise<void>;
}

/** The indexes that a feature needs on a collection it owns. */
export interface CollectionIndexes {
  collection: string;
  indexes: readonly IndexSpec[];
}

/** An `IndexDescription` whose type also fits a constant list of unlike keys as the compiler infers it. */
export type IndexSpec = Omit<IndexDescription, 'key'> & { key: Readonly<Record<string, number | undefined>> };

const DEFAULT_DATABASE = 'oracle';
/** Older than what was just written is nothing that decides: an option goes before what the URI says. */
const READ_OPTIONS: MongoClientOptions = { readPreference: 'primary' };
const TIMEOUT_OPTIONS: MongoClientOptions = { serverSelectionTimeoutMS: 5_000, connectTimeoutMS: 5_000, socketTimeoutMS: 60_000 };
/**
 * Acknowledged means on disk: without the journal a killed server loses what it acknowledged in its last 100 ms. A server
 * without a replica set is asked for `w: 1`, since the embedded engine does not wait for its journal under `majority`.
 */
const toWriteConcern = (inReplicaSet: boolean): WriteConcernSettings => ({ w: inReplicaSet ? 'majority' : 1, journal: true });
/** A signal, because the driver's own limit does not end a command that a silent server never answers. */
const PING_TIMEOUT_MS = 3_000;
const DUPLICATE_KEY_CODE = 11000;

/**
 * Connects, and checks that the server answers. The database is the one that the URI names, otherwise `oracle`.
 *
 * Throws CONFIG_INVALID for a URI that cannot be read and DATABASE_UNAVAILABLE when nobody answers, or not to these
 * credentials; no message repeats the URI.
 */
export async function connectMongo(uri: string, options: MongoClientOptions = {}): Promise<Database> {
  const client = createMongoClient(uri, { ...TIMEOUT_OPTIONS, ...READ_OPTIONS, appName: 'bitcoin-signal-oracle', ...options });
  try {
    const db = client.db(getDatabaseName(uri), { writeConcern: toWriteConcern(await isReplicaSet(client, uri)) });
    return { db, client, ping: () => pingDatabase(db, uri), now: () => readDatabaseTimeOrFail(db, uri), close: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function pingDatabase(db: Db, uri: string): Promise<void> {
  await wrapUnavailable('The database does not answer', uri, () =>
    db.command({ ping: 1 }, { signal: AbortSignal.timeout(PING_TIMEOUT_MS) }),
  );
}

function readDatabaseTimeOrFail(db: Db, uri: string): Promise<Date> {
  return wrapUnavailable('The database does not say its time', uri, () => readDatabaseTime(db, AbortSignal.timeout(PING_TIMEOUT_MS)));
}

/** The server's clock, which processes on several machines share. `hello` has it too, but not from the embedded engine. */
export async function readDatabaseTime(db: Db, signal?: AbortSignal): Promise<Date> {
  const pipeline = [{ $documents: [{}] }, { $project: { now: '$$NOW' } }];
  const { cursor } = await db.command({ aggregate: 1, pipeline, cursor: {} }, signal === undefined ? {} : { signal });
  return cursor.firstBatch[0].now;
}

/** Whether the server answers, and as a member of what; a router counts as a replica set, as it writes to some. */
async function isReplicaSet(client: MongoClient, uri: string): Promise<boolean> {
  const hello = await wrapUnavailable('Connecting to the database failed', uri, async () => {
    await client.connect();
    return client.db('admin').command({ hello: 1 }, { timeoutMS: PING_TIMEOUT_MS });
  });
  return hello.setName !== undefined || hello.msg === 'isdbgrid';
}

/** Creates what is missing; running it again, or in two processes at once, is harmless. */
export async function ensureIndexes(db: Db, specs: readonly CollectionIndexes[]): Promise<void> {
  for (const { collection, indexes } of specs) {
    try {
      if (indexes.length > 0) await db.collection(collection).createIndexes(indexes as IndexDescription[]);
    } catch (error) {
      throw new OracleError('DATABASE_UNAVAILABLE', `Creating the indexes of ${collection} failed: ${getErrorMessage(error)}`, {
        cause: error,
      });
    }
  }
}

/** True for the error of a write that a unique index refused. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY_CODE;
}

/** For writes of which the first one stands. */
export function ignoreDuplicate(error: unknown): void {
  if (!isDuplicateKey(error)) throw error;
}

/**
 * Inserts documents in their order, up to the first that a unique index refuses: `complete` tells whether all are there, `inserted` how
 * many of them are.
 */
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

/** True for an error that says that the server is not there or does not answer. */
export function isDatabaseUnreachable(error: unknown): boolean {
  return UNREACHABLE_ERRORS.some((kind) => error instanceof kind);
}

const UNREACHABLE_ERRORS = [MongoNetworkError, MongoServerSelectionError, MongoOperationTimeoutError];

/** The text without the URI, and without its user and password wherever they occur. */
export function stripCredentials(text: string, uri: string): string {
  // Up to the last @, since an unescaped one in a password is what makes a URI unreadable.
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
    return new MongoClient(uri, options);
  } catch (error) {
    // Without its cause, whose message repeats the URI.
    throw new OracleError('CONFIG_INVALID', `MONGODB_URI cannot be used: ${stripCredentials(getErrorMessage(error), uri)}`, {
      field: 'MONGODB_URI',
    });
  }
}

/** The driver's own default would be `test`. */
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
