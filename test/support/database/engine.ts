import { mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEmbeddedMongo } from '../../../src/dev/embedded-mongo.ts';
import { removeFolder } from '../docs/folders.ts';

/** Kept between runs; every use checks its content. */
export const ENGINE_CACHE = resolve(import.meta.dirname, '../../../node_modules/.cache/embedded-mongodb');

/** Has a new data folder use that cache: an own one is 37 MB, written at each first start. */
export async function linkEngineCache(dataDir: string): Promise<void> {
  await mkdir(ENGINE_CACHE, { recursive: true, mode: 0o700 });
  await symlink(ENGINE_CACHE, join(dataDir, 'cache'));
}

export interface TestEngine {
  uri: string;
  pid: number;
  stop(): Promise<void>;
}

export async function startEngine(): Promise<TestEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'oracle-test-database-'));
  const { uri, pid, stop } = await startEmbeddedMongo({ dbPath: folder, cacheDir: ENGINE_CACHE });
  return { uri, pid, stop: () => stop().then(() => removeFolder(folder)) };
}

/** Of all test files of a run, by its name in the environment of its workers. */
export const SHARED_ENGINE = 'ORACLE_TEST_ENGINE';

/** Global set-up: most suites need a database, and an engine takes longer to start than many of them. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.MONGODB_URI !== undefined || process.env[SHARED_ENGINE] !== undefined) return undefined;
  const { stop, ...engine } = await startEngine();
  process.env[SHARED_ENGINE] = JSON.stringify(engine);
  return stop;
}
