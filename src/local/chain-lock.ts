import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isOracleError } from '../errors.ts';
import { lockFolder } from './folder-lock.ts';
import { processIdentity } from './process-identity.ts';

export interface ChainLock {
  /** Notes the child, so that the next start can end it if this process is killed before it could. */
  setAnvil(pid: number): Promise<void>;
  release(): Promise<void>;
}

const RETRY_MS = 100;

/**
 * Claims the folder of a local chain for this process, waiting for an earlier one that is still saving. An anvil whose host is
 * gone is ended.
 * @throws OracleError DATA_DIR_IN_USE when a living host keeps the folder for longer than `patienceMs`.
 */
export async function lockChain(stateDir: string, patienceMs: number): Promise<ChainLock> {
  const release = await lockPatiently(stateDir, Date.now() + patienceMs);
  const note = join(stateDir, 'anvil.pid');
  await endOrphan(note);
  return {
    setAnvil: (pid) => writeFile(note, JSON.stringify({ pid, identity: processIdentity(pid) })),
    release: async () => {
      await rm(note, { force: true });
      await release();
    },
  };
}

async function lockPatiently(folder: string, deadline: number): Promise<() => Promise<void>> {
  try {
    return await lockFolder(folder);
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE') || Date.now() >= deadline) throw error;
  }
  await delay(RETRY_MS);
  return lockPatiently(folder, deadline);
}

async function endOrphan(note: string): Promise<void> {
  const { pid, identity } = await readNote(note);
  // Another process may have got the number in the meantime.
  if (pid !== undefined && identity !== undefined && processIdentity(pid) === identity) process.kill(pid, 'SIGKILL');
}

async function readNote(note: string): Promise<{ pid?: number; identity?: string }> {
  try {
    return JSON.parse(await readFile(note, 'utf8'));
  } catch {
    // Absent, or cut short by a crash: then nobody is known.
    return {};
  }
}
