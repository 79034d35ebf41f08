import type { Db } from 'mongodb';
import { connectMongo } from '../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../database/database.ts';
import { type MongoFaultProxy, mongoFaultProxy } from './mongo-fault-proxy.ts';

export interface FaultedDatabase {
  /** Without faults: what a suite reads. */
  direct: TestDatabase;
  proxy: MongoFaultProxy;
  /** Through the proxy: what the parts under test get. */
  db: Db;
  drop(): Promise<void>;
}

/** An empty database of its own, also through a proxy that makes faults. */
export async function faultedDatabase(): Promise<FaultedDatabase> {
  const direct = await testDatabase();
  const proxy = await mongoFaultProxy(direct.uri);
  const { db, close } = await connectMongo(proxy.uri);
  const drop = async () => {
    await close();
    await proxy.close();
    await direct.drop();
  };
  return { direct, proxy, db, drop };
}
