import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OracleError } from '../errors.ts';
import { anvilBinary } from './anvil.ts';

/** Who runs the chain of a folder: the host process, and the anvil it started. */
interface Owners {
  host: number;
  anvil?: number;
}

export interface ChainLock {
  /** Notes the child, so that the next start can end it if this process is killed before it could. */
  setAnvil(pid: number): void;
  release(): void;
}

/**
 * Claims the folder of a local chain for this process. A claim whose process is gone is taken over, and its orphaned anvil ended.
 * @throws OracleError DATA_DIR_IN_USE when a living host holds the folder.
 */
export function lockChain(stateDir: string): ChainLock {
  const path = join(stateDir, 'chain.pid');
  claim(path);
  return {
    setAnvil: (pid) => writeFileSync(path, JSON.stringify({ host: process.pid, anvil: pid } satisfies Owners)),
    release: () => rmSync(path, { force: true }),
  };
}

function claim(path: string): void {
  const content = JSON.stringify({ host: process.pid } satisfies Owners);
  try {
    writeFileSync(path, content, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    takeOver(path);
    writeFileSync(path, content, { flag: 'wx' });
  }
}

function takeOver(path: string): void {
  const { host, anvil } = readOwners(path);
  if (host !== undefined && host !== process.pid && commandOf(host).includes('chain-host')) {
    throw new OracleError('DATA_DIR_IN_USE', `Process ${host} runs a local chain in this folder`, {
      field: 'DATA_DIR',
      suggestedAction: 'Stop the other process, or use another DATA_DIR.',
    });
  }
  if (anvil !== undefined && commandOf(anvil).includes(anvilBinary())) process.kill(anvil, 'SIGKILL');
  rmSync(path, { force: true });
}

/** A claim cut short by a crash names nobody. */
function readOwners(path: string): Partial<Owners> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owners;
  } catch {
    return {};
  }
}

/** Command line of a process, or an empty text; tells a living owner from another process that got its number. */
function commandOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
