import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startService } from '../../../src/app/startup.ts';
import { loadConfig } from '../../../src/config.ts';
import { createLog, createLogCounts } from '../../../src/platform/log.ts';
import { createStartupProgress } from '../../../src/platform/progress.ts';
import { createShutdown } from '../../../src/platform/shutdown.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { changesDatabase } from '../../support/faults/fault-sweep.ts';
import { faultedDatabase } from '../../support/faults/faulted-database.ts';
import type { MongoFault } from '../../support/faults/mongo-fault-proxy.ts';

const POINTS = Number(process.env.START_POINTS ?? 8);

/** A first start, replay included, whose nth write meets a fault; resolves to the number of its writes. Lost reads are repeated by the driver. */
async function start(fault: MongoFault | null, nth: number, absentMs = 0): Promise<{ writes: number; hit: string | null }> {
  const [dataDir, database] = [await mkdtemp(join(tmpdir(), 'oracle-start-')), await faultedDatabase()];
  const config = loadConfig({
    ...{ DATA_DIR: dataDir, PORT: '0', FEEDS: 'simulated', REPLAY_DAYS: '1', MONGODB_URI: database.proxy.uri, LOG_LEVEL: 'fatal' },
  });
  const log = createLog({ level: 'silent', secrets: [] });
  const shutdown = createShutdown({ log });
  let [writes, hit]: [number, string | null] = [0, null];
  database.proxy.plan((command) => {
    if (!changesDatabase(command)) return null;
    writes += 1;
    if (writes !== nth) return null;
    hit = `${command.name} ${command.collection}`;
    return fault;
  });
  if (absentMs > 0) database.proxy.disconnect(true);
  setTimeout(() => database.proxy.accept(), absentMs);
  try {
    await startService({ config, log, logCounts: createLogCounts(), shutdown, progress: createStartupProgress() });
  } finally {
    await shutdown.stop('the test is over');
    await database.drop();
    await removeFolder(dataDir);
  }
  return { writes, hit };
}

it('waits and goes on when it loses a connection', { timeout: 1_200_000 }, async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const { writes } = await start(null, 0);
  const failed: string[] = [];
  const hits: string[] = [];
  for (const fault of ['cut-before', 'cut-after'] as const) {
    for (let point = 1; point <= POINTS; point++) {
      const nth = Math.ceil((point * writes * 0.95) / POINTS);
      await start(fault, nth).then(
        ({ hit }) => hits.push(`${hit}`),
        (error: Error) => failed.push(`${fault} ${nth}: ${error.stack}`),
      );
    }
  }
  vi.restoreAllMocks();
  process.stdout.write(`starts: ${writes} writes; cut at ${hits.length + failed.length}: ${hits.join(', ')}\n`);
  expect(failed).toEqual([]);
});

it('waits for a database that comes later', async () => {
  expect((await start(null, 0, 8_000)).writes).toBeGreaterThan(50);
});
