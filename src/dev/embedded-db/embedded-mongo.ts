import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ChildHost, startChildHost } from '../../platform/child-process/child-host.ts';
import { damagedDataDirError, toDataDirError } from '../../platform/data-dir/entries.ts';
import { makeFolder } from '../../platform/data-dir/json-file.ts';
import type { OracleError } from '../../platform/errors.ts';

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
  try {
    await makeFolder(dbPath);
    const host = await startChildHost<{ uri: string }>({
      module: new URL('./mongo-host.ts', import.meta.url),
      name: 'The embedded MongoDB',
      failureCode: 'DATABASE_UNAVAILABLE',
      payload: { dbPath, cacheDir, inUseTimeoutMs },
      readyTimeoutMs: inUseTimeoutMs + 30_000,
    });
    const onExit: EmbeddedMongo['onExit'] = (callback) => host.onExit((error) => void explainEnd(dbPath, error).then(callback));
    return { uri: host.ready.uri, pid: host.pid, stop: host.stop, onExit };
  } catch (error) {
    throw await explainEnd(dbPath, toDataDirError(dirname(dbPath), error) as OracleError);
  }
}

/** How MongoDB ends on files that it cannot use, which it does not explain: by its own exit code after a fatal assertion, or by an abort. */
const GIVES_UP = /\((SIGABRT|SIGBUS|SIGSEGV|exit code 14)\)/;
const MIN_FREE_BYTES = 16 * 2 ** 20;

async function explainEnd(dbPath: string, error: OracleError): Promise<OracleError> {
  if (!GIVES_UP.test(error.message)) return error;
  const { bavail, bsize } = await statfs(dbPath).catch(() => ({ bavail: Number.POSITIVE_INFINITY, bsize: 1 }));
  const folder = dirname(dbPath);
  if (bavail * bsize < MIN_FREE_BYTES)
    return toDataDirError(folder, Object.assign(new Error(error.message), { code: 'ENOSPC' })) as OracleError;
  return damagedDataDirError(folder, `the files of its database in ${dbPath} are damaged: ${error.message}`, { cause: error });
}
