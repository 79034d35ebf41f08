import { afterAll, afterEach, beforeAll } from 'vitest';
import { type TestDatabase, testDatabase } from '../database/database.ts';
import { type A2aBench, a2aBench, type BenchOptions, rpcOf } from './a2a-bench.ts';

export type SuiteBench = A2aBench & { rpc: ReturnType<typeof rpcOf> };

/** A suite with a database of its own, and benches on it that end with the test that opened them. @param afterwards runs once they have ended */
export function a2aSuite(afterwards: () => Promise<unknown> = async () => undefined) {
  let database: TestDatabase | undefined;
  const benches: A2aBench[] = [];
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterEach(async () => {
    for (const bench of benches.splice(0)) {
      bench.stop();
      await bench.a2a.drain();
      await bench.close();
    }
    await afterwards();
  });
  afterAll(() => database?.drop());
  return {
    get database(): TestDatabase {
      return database!;
    },
    async bench(options: Partial<BenchOptions> = {}): Promise<SuiteBench> {
      const started = await a2aBench({ db: database!.db, ...options });
      benches.push(started);
      return { ...started, rpc: rpcOf(started.url) };
    },
  };
}
