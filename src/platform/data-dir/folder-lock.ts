import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OracleError } from '../errors.ts';
import { makeFolder, readJsonFileOrNull, writeJsonFile } from './json-file.ts';
import { getProcessIdentity } from './process-identity.ts';

export const LOCK_FOLDER = 'lock';

interface LockClaim {
  pid: number;
  /** From `getProcessIdentity`. */
  identity: string;
  since: string;
}

/** Two processes that start at once may both back off; a random delay decides. */
const MAX_ATTEMPTS = 6;

/** Claims first, then looks for others: of two at once at least one backs off. @throws OracleError DATA_DIR_IN_USE naming the lock holder */
export async function acquireFolderLock(folder: string): Promise<() => Promise<void>> {
  const claims = join(folder, LOCK_FOLDER);
  await makeFolder(claims);
  let holder: number | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (attempt > 0) await delay(Math.random() * 25 * 2 ** attempt);
    const release = await writeClaim(folder, claims);
    holder = await findOtherHolder(claims);
    if (holder === undefined) return release;
    await release();
  }
  throw folderInUseError(folder, holder!);
}

async function writeClaim(folder: string, claims: string): Promise<() => Promise<void>> {
  const path = getClaimPath(claims, process.pid);
  const identity = getProcessIdentity(process.pid) ?? '';
  if ((await readClaim(path))?.identity === identity) throw folderInUseError(folder, process.pid);
  await writeJsonFile(path, { pid: process.pid, identity, since: new Date().toISOString() } satisfies LockClaim);
  return () => rm(path, { force: true });
}

/** Pid of a living process with a claim; removes claims of dead processes. */
async function findOtherHolder(claims: string): Promise<number | undefined> {
  for (const name of await readdir(claims)) {
    const pid = Number(/^(\d+)\.json$/.exec(name)?.[1]);
    if (Number.isNaN(pid) || pid === process.pid) continue;
    const claim = await readClaim(getClaimPath(claims, pid));
    if (claim && getProcessIdentity(pid) === claim.identity) return pid;
    await rm(getClaimPath(claims, pid), { force: true });
  }
  return undefined;
}

function getClaimPath(claims: string, pid: number): string {
  return join(claims, `${pid}.json`);
}

/** Null if released meanwhile; claims are written atomically. */
const readClaim = (path: string) => readJsonFileOrNull(path) as Promise<LockClaim | null>;

function folderInUseError(folder: string, pid: number): OracleError {
  return new OracleError('DATA_DIR_IN_USE', `The data folder ${folder} is in use by process ${pid}`, {
    field: 'DATA_DIR',
    suggestedAction: `Stop process ${pid}, or set DATA_DIR to another folder`,
  });
}
