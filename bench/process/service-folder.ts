import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../test/support/docs/folders.ts';
import { type RunningService, startService } from '../../test/support/service/running-service.ts';

/** As `npm start` has them. */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '32768' };

/** Starts a service, and has it stop in order. */
export type Start = (environment: Record<string, string>) => Promise<RunningService>;

/** Does something with processes on a data folder of their own, all of which have ended afterwards. */
export async function withFolder<Result>(work: (start: Start, folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'oracle-bench-'));
  const running: RunningService[] = [];
  const start: Start = async (environment) => {
    const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'silent', ...environment });
    running.push(service);
    return service;
  };
  try {
    return await work(start, folder);
  } finally {
    // The last one first: it may stand on what the first runs.
    for (const { child, ended } of running.toReversed()) {
      child.kill('SIGTERM');
      await ended;
    }
    await removeFolder(folder);
  }
}
