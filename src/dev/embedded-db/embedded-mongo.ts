import { mkdir } from 'node:fs/promises';
import { type ChildHost, startChildHost } from '../../platform/child-process/child-host.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';

export interface EmbeddedMongo extends Pick<ChildHost<never>, 'pid' | 'stop' | 'onExit'> {
  /** For the official driver, in processes of this user on this machine. */
  uri: string;
}

export interface EmbeddedMongoOptions {
  dbPath: string;
  /** Folder of the relinked engine (about 37 MB), on systems that need one. */
  cacheDir: string;
  /** Limit of the wait for an earlier process that is still closing the folder; default 8 s. */
  inUseTimeoutMs?: number;
}

/** Without transactions, change streams and TTL deletion. @throws CONFIG_INVALID, DATA_DIR_IN_USE, DATA_DIR_DAMAGED, DATABASE_UNAVAILABLE */
export async function startEmbeddedMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const { dbPath, cacheDir, inUseTimeoutMs = 8_000 } = options;
  await mkdir(dbPath, { recursive: true, mode: 0o700 });
  try {
    const host = await startChildHost<{ uri: string }>({
      module: new URL('./mongo-host.ts', import.meta.url),
      name: 'The embedded MongoDB',
      failureCode: 'DATABASE_UNAVAILABLE',
      payload: { dbPath, cacheDir, inUseTimeoutMs },
      readyTimeoutMs: inUseTimeoutMs + 30_000,
    });
    return { uri: host.ready.uri, pid: host.pid, stop: host.stop, onExit: host.onExit };
  } catch (error) {
    throw isOracleError(error, 'DATABASE_UNAVAILABLE') && error.message.includes('SIGABRT') ? damagedDatabaseError(dbPath, error) : error;
  }
}

/** WiredTiger aborts on unreadable files. */
function damagedDatabaseError(dbPath: string, cause: OracleError): OracleError {
  const message = `The embedded MongoDB cannot open the database in ${dbPath}: ${cause.message}`;
  return new OracleError('DATA_DIR_DAMAGED', message, { field: 'DATA_DIR', suggestedAction: 'npm run reset', cause });
}
