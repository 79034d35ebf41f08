import { readdir, rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OracleError } from '../errors.ts';
import { classifyEntries, inDataDir, requireAccess } from './entries.ts';
import { LOCK_FOLDER, acquireFolderLock } from './folder-lock.ts';

/** The folder itself stays. @throws OracleError DATA_DIR_IN_USE; CONFIG_INVALID, before any deletion, for a foreign folder */
export async function resetDataDir(path: string): Promise<string[]> {
  const folder = resolve(path);
  return inDataDir(folder, () => resetFolder(folder));
}

async function resetFolder(folder: string): Promise<string[]> {
  requireResettable(folder, await listEntries(folder));
  if ((await listEntries(folder)).length === 0) return [];
  requireAccess(folder, []);
  const release = await acquireFolderLock(folder);
  // Listed again: before the lock another process could still write.
  const owned = classifyEntries(await listEntries(folder)).owned.filter((name) => name !== LOCK_FOLDER);
  for (const name of owned) await rm(join(folder, name), { recursive: true, force: true });
  await release();
  // Fails, as intended, when another process has just claimed the folder.
  await rmdir(join(folder, LOCK_FOLDER)).catch(() => {});
  return owned.sort();
}

function requireResettable(folder: string, entries: string[]): void {
  const { files, contents, unknown } = classifyEntries(entries);
  if (unknown.length > 0) throw resetRejectedError(folder, `it holds ${unknown.join(', ')}, which this program did not make`);
  if (contents.length > 0 && files.length === 0)
    throw resetRejectedError(folder, `it has ${contents.join(', ')} but none of the files that mark it as ours`);
}

function resetRejectedError(folder: string, why: string): OracleError {
  return new OracleError('CONFIG_INVALID', `Nothing was removed from ${folder}: ${why}`, {
    field: 'DATA_DIR',
    suggestedAction: 'Check DATA_DIR, or look through the folder and remove it yourself',
  });
}

async function listEntries(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
