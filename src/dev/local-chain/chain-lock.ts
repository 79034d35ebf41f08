import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { acquireFolderLock } from '../../platform/data-dir/folder-lock.ts';
import { getProcessIdentity } from '../../platform/data-dir/process-identity.ts';
import { isOracleError } from '../../platform/errors.ts';

export interface ChainLock {
  /** Notes the child, so that the next start can end it if this process is killed before it could. */
  recordAnvilPid(pid: number): Promise<void>;
  release(): Promise<void>;
}

const RETRY_MS = 100;

/**
 * Claims the folder of a local chain for this process, waiting for an earlier one that is still saving. An anvil whose host is
 * gone is ended.
 * @throws OracleError DATA_DIR_IN_USE when a living host keeps the folder for longer than `patienceMs`.
 */
export async function acquireChainLock(stateDir: string, maxWaitMs: number): Promise<ChainLock> {
  const release = await acquireWithRetries(stateDir, Date.now() + maxWaitMs);
  const pidFile = join(stateDir, 'anvil.pid');
  await killOrphan(pidFile);
  return {
    recordAnvilPid: (pid) => writeFile(pidFile, JSON.stringify({ pid, identity: getProcessIdentity(pid) })),
    release: async () => {
      await rm(pidFile, { force: true });
      await release();
    },
  };
}

async function acquireWithRetries(folder: string, deadline: number): Promise<() => Promise<void>> {
  try {
    return await acquireFolderLock(folder);
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE') || Date.now() >= deadline) throw error;
  }
  await delay(RETRY_MS);
  return acquireWithRetries(folder, deadline);
}

async function killOrphan(pidFile: string): Promise<void> {
  const { pid, identity } = await readPidFile(pidFile);
  // Another process may have got the number in the meantime.
  if (pid !== undefined && identity !== undefined && getProcessIdentity(pid) === identity) process.kill(pid, 'SIGKILL');
}

async function readPidFile(pidFile: string): Promise<{ pid?: number; identity?: string }> {
  try {
    return JSON.parse(await readFile(pidFile, 'utf8'));
  } catch {
    // Absent, or cut short by a crash: then nobody is known.
    return {};
  }
}
