import { mkdir } from 'node:fs/promises';
import { startChildHost } from '../../platform/child-process/child-host.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';

export interface EmbeddedMongo {
  /** For the official driver, in any process of this user on this machine. */
  uri: string;
  /** Number of the engine's process. */
  pid: number;
  /** Closes the database cleanly; resolves when its process is gone. */
  stop(): Promise<void>;
  /** Called once if the engine's process ends by itself. */
  onExit(callback: (error: OracleError) => void): void;
}

export interface EmbeddedMongoOptions {
  /** Folder of the database; made if missing. */
  dbPath: string;
  /** Folder for the adapted engine on systems that need one (about 37 MB). */
  cacheDir: string;
  /** How long to wait for an earlier process that is still closing the same folder; 8 s. */
  inUseTimeoutMs?: number;
}

/**
 * MongoDB's server code on a local folder, in a child process. For demo, development and tests: no transactions,
 * sessions, change streams or authentication, and TTL indexes do not delete.
 *
 * Throws CONFIG_INVALID where the engine does not run, DATA_DIR_IN_USE when another process has the folder open,
 * DATA_DIR_DAMAGED when the engine aborts on what is in it, DATABASE_UNAVAILABLE otherwise.
 */
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

/** WiredTiger's answer to files that it cannot read is to abort. */
function damagedDatabaseError(dbPath: string, cause: OracleError): OracleError {
  return new OracleError('DATA_DIR_DAMAGED', `The embedded MongoDB cannot open the database in ${dbPath}: ${cause.message}`, {
    field: 'DATA_DIR',
    suggestedAction: 'npm run reset',
    cause,
  });
}
