import {
  type Collection,
  type Db,
  type Document,
  type IndexDescription,
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
  type WriteConcernSettings,
} from 'mongodb';
import { getErrorMessage, OracleError } from './errors.ts';
import { recordMongoSpans } from './tracing/mongo-spans.ts';
import { getTracer } from './tracing/otel.ts';

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

/** Idempotent, also across processes. */
export async function ensureIndexes(db: Db, specs: readonly CollectionIndexes[]): Promise<void> {
  for (const { collection, indexes } of specs) {
    try {
      if (indexes.length > 0) await db.collection(collection).createIndexes(indexes as IndexDescription[]);
    } catch (error) {
      const message = `Creating the indexes of ${collection} failed: ${getErrorMessage(error)}`;
      throw new OracleError('DATABASE_UNAVAILABLE', message, { cause: error });
    }
  }
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
export function stripCredentials(text: string, uri: string): string {
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
