import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { acquireFolderLock } from '../../platform/data-dir/folder-lock.ts';
import { readJsonFileOrNull } from '../../platform/data-dir/json-file.ts';
import { getProcessIdentity } from '../../platform/data-dir/process-identity.ts';
import { isOracleError } from '../../platform/errors.ts';

export interface ChainLock {
  /** Records the child, so that the next start can kill it if this process was killed: at once, since until then nothing names it. */
  recordAnvilPid(pid: number): void;
  release(): Promise<void>;
}

const RETRY_MS = 100;

/** Waits for an earlier process that is still saving, and kills an orphaned anvil. @throws OracleError DATA_DIR_IN_USE after `maxWaitMs` */
export async function acquireChainLock(stateDir: string, maxWaitMs: number): Promise<ChainLock> {
  const release = await acquireWithRetries(stateDir, performance.now() + maxWaitMs);
  const pidFile = join(stateDir, 'anvil.pid');
  await killOrphan(pidFile);
  return {
    recordAnvilPid: (pid) => writeFileSync(pidFile, JSON.stringify({ pid, identity: getProcessIdentity(pid) })),
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
    if (!isOracleError(error, 'DATA_DIR_IN_USE') || performance.now() >= deadline) throw error;
  }
  await delay(RETRY_MS);
  return acquireWithRetries(folder, deadline);
}

async function killOrphan(pidFile: string): Promise<void> {
  // Null if absent, or truncated by a crash.
  const { pid, identity } = ((await readJsonFileOrNull(pidFile)) ?? {}) as { pid?: number; identity?: string };
  // The pid may have been reused.
  if (pid !== undefined && identity !== undefined && getProcessIdentity(pid) === identity) process.kill(pid, 'SIGKILL');
}
