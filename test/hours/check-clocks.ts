import { testChain } from '../support/chain/chain.ts';
import { testDatabase } from '../support/database/database.ts';

/** Started by `run.ts` under the fake clock: ends with 1 unless this process, a new chain and the database all read the instant given. */
const TOLERANCE_MS = 60_000;

const expectedMs = Number(process.argv[2]);
const [chain, database] = await Promise.all([testChain(), testDatabase()]);
try {
  const clocks = { process: Date.now(), chain: await readChainClock(), database: await readDatabaseClock() };
  for (const [name, ms] of Object.entries(clocks)) {
    if (Math.abs(ms - expectedMs) < TOLERANCE_MS) continue;
    console.error(`the clock of the ${name} reads ${new Date(ms).toISOString()}`);
    process.exitCode = 1;
  }
} finally {
  await Promise.all([chain.stop(), database.drop()]);
}

async function readChainClock(): Promise<number> {
  await chain.mine();
  const block = await chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
  return Number(block.timestamp) * 1000;
}

async function readDatabaseClock(): Promise<number> {
  const clock = database.db.collection<{ _id: string; at?: Date }>('clock');
  const written = await clock.findOneAndUpdate({ _id: 'clock' }, { $currentDate: { at: true } }, { upsert: true, returnDocument: 'after' });
  return written!.at!.getTime();
}
