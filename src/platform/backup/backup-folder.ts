import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../data-dir/json-file.ts';

const NAME = /^oracle-\d+-\d{8}T\d{6}Z\.backup$/;
/** Left by a process killed while it wrote. */
const TEMPORARY_NAME = /^oracle-\d+-\d{8}T\d{6}Z\.backup\.[0-9a-f-]{36}\.tmp$/;
const TEMPORARY_EXPIRES_MS = 86_400_000;

export interface StoredBackup {
  name: string;
  path: string;
  bytes: number;
}

/** Names sort by time. */
export function formatBackupName(chainId: number, at: Date): string {
  return `oracle-${chainId}-${at.toISOString().replace(/[-:]|\.\d+/g, '')}.backup`;
}

export async function ensureBackupFolder(folder: string): Promise<void> {
  await makeFolder(folder);
}

/** Newest first; other files are left out. */
export async function listBackups(folder: string): Promise<StoredBackup[]> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name));
  const found = names.map(async (name) => ({ name, path: join(folder, name), bytes: (await stat(join(folder, name))).size }));
  return (await Promise.all(found)).toSorted((a, b) => (getTime(a) < getTime(b) ? 1 : -1));
}

/** Deletes all but the newest backups of a chain, and what killed processes have left. Returns the names of the deleted backups. */
export async function pruneBackups(
  folder: string,
  { chainId, keep, now }: { chainId: number; keep: number; now: Date },
): Promise<string[]> {
  const own = (await listBackups(folder)).filter(({ name }) => name.startsWith(`oracle-${chainId}-`));
  const expired = own.slice(keep);
  for (const { path } of expired) await rm(path, { force: true });
  for (const name of (await readdir(folder)).filter((entry) => TEMPORARY_NAME.test(entry))) {
    const { mtimeMs } = await stat(join(folder, name));
    if (now.getTime() - mtimeMs > TEMPORARY_EXPIRES_MS) await rm(join(folder, name), { force: true });
  }
  return expired.map(({ name }) => name);
}

const getTime = ({ name }: StoredBackup) => name.split('-')[2]!;
