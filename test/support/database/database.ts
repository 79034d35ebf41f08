import { randomBytes } from 'node:crypto';
import type { Db, MongoClient } from 'mongodb';
import { connectMongo } from '../../../src/platform/mongo.ts';
import { SHARED_ENGINE, startEngine } from './engine.ts';

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

type Server = Pick<TestDatabase, 'uri' | 'pid'>;

let server: Promise<Server> | undefined;

/** An empty database of its own: on the server that MONGODB_URI names, else on the embedded engine that all test files share. */
export async function testDatabase(): Promise<TestDatabase> {
  server ??= findServer();
  const { uri: serverUri, pid } = await server;
  const uri = withDatabase(serverUri, `test_${randomBytes(6).toString('hex')}`);
  const { db, client, close } = await connectMongo(uri);
  const drop = async () => {
    await db.dropDatabase();
    await close();
  };
  return { db, client, uri, pid, drop };
}

async function findServer(): Promise<Server> {
  const { MONGODB_URI, [SHARED_ENGINE]: shared } = process.env;
  if (MONGODB_URI !== undefined) return { uri: MONGODB_URI, pid: null };
  // A script that is no suite has an engine of its own, which ends with it.
  return shared === undefined ? startEngine() : JSON.parse(shared);
}

function withDatabase(uri: string, name: string): string {
  const [, server, query = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]*)[^?]*(\?.*)?$/.exec(uri) ?? [];
  return `${server}/${name}${query}`;
}
