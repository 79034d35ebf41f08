import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, MongoClient } from 'mongodb';
import { startEmbeddedMongo } from '../../../src/dev/embedded-mongo.ts';
import { connectMongo } from '../../../src/platform/mongo.ts';
import { removeFolder } from '../docs/folders.ts';
import { ENGINE_CACHE } from './engine-cache.ts';

export interface TestDatabase {
  db: Db;
  client: MongoClient;
  /** Names this very database: what a process under test is given as MONGODB_URI. */
  uri: string;
  /** Of the embedded engine; null on the server of MONGODB_URI. */
  pid: number | null;
  /** Deletes the database and disconnects: for `afterAll`. */
  drop(): Promise<void>;
}

interface Server {
  uri: string;
  pid: number | null;
  stop(): Promise<void>;
}

let server: Promise<Server> | undefined;
let users = 0;

/**
 * An empty database of its own: on the server that MONGODB_URI names, else on an embedded engine that the suites of one
 * test file share and that ends with the last `drop`.
 */
export async function testDatabase(): Promise<TestDatabase> {
  users += 1;
  server ??= process.env.MONGODB_URI ? Promise.resolve({ uri: process.env.MONGODB_URI, pid: null, stop: async () => {} }) : startEngine();
  const { uri: serverUri, pid } = await server;
  const uri = withDatabase(serverUri, `test_${randomBytes(6).toString('hex')}`);
  const { db, client, close } = await connectMongo(uri);
  const drop = async () => {
    await db.dropDatabase();
    await close();
    await leave();
  };
  return { db, client, uri, pid, drop };
}

async function leave(): Promise<void> {
  users -= 1;
  if (users > 0) return;
  const last = server;
  server = undefined;
  await (await last)?.stop();
}

async function startEngine(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'oracle-test-database-'));
  const engine = await startEmbeddedMongo({ dbPath: folder, cacheDir: ENGINE_CACHE });
  const stop = async () => {
    await engine.stop();
    await removeFolder(folder);
  };
  return { uri: engine.uri, pid: engine.pid, stop };
}

function withDatabase(uri: string, name: string): string {
  const [, server, query = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]*)[^?]*(\?.*)?$/.exec(uri) ?? [];
  return `${server}/${name}${query}`;
}
