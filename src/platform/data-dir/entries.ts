import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { getErrorMessage, isOracleError, OracleError } from '../errors.ts';
import { LOCK_FOLDER } from './folder-lock.ts';

export const MANIFEST_FILE = 'state.json';

/** Created by the setup. A reset deletes only these. */
const DATA_FILES = [MANIFEST_FILE, 'demo.json', 'keys.json'];
const DATA_FOLDERS = ['database', 'chain'];
/** A folder with only these counts as empty. */
const AUXILIARY_NAMES = [LOCK_FOLDER, 'cache'];
/** Created by file systems, file managers and git: not a sign of a foreign folder. */
const IGNORED_NAMES = ['lost+found', '.DS_Store', '.gitkeep'];

export interface DataDirEntries {
  /** JSON files that identify a data folder. */
  files: string[];
  /** Everything worth keeping. */
  contents: string[];
  /** `contents` and all that a reset deletes with them. */
  owned: string[];
  /** Not created by this program. */
  unknown: string[];
}

export function classifyEntries(entries: readonly string[]): DataDirEntries {
  const files = entries.filter((name) => DATA_FILES.includes(name));
  const contents = [...files, ...entries.filter((name) => DATA_FOLDERS.includes(name))];
  const owned = entries.filter((name) => contents.includes(name) || AUXILIARY_NAMES.includes(name) || isTemporary(name));
  return { files, contents, owned, unknown: entries.filter((name) => !owned.includes(name) && !IGNORED_NAMES.includes(name)) };
}

/** Left by a process killed during an atomic write. */
function isTemporary(name: string): boolean {
  return DATA_FILES.includes(name.replace(/\.[0-9a-f-]{36}\.tmp$/, '')) && name.endsWith('.tmp');
}

/**
 * Asked before any part is opened: the engine of the database takes files that it may not write for damaged ones, or for those of another process.
 * @param parts names in the folder; what does not exist is left out @throws OracleError CONFIG_INVALID
 */
export function requireAccess(folder: string, parts: readonly string[]): void {
  requireMode(folder, folder, constants.R_OK | constants.W_OK | constants.X_OK);
  for (const path of [LOCK_FOLDER, ...parts].map((name) => join(folder, name)).filter((path) => existsSync(path))) {
    const isFolder = statSync(path).isDirectory();
    // Files are replaced by renaming, which takes the right to write the folder alone.
    requireMode(folder, path, isFolder ? constants.R_OK | constants.W_OK : constants.R_OK);
    if (!isFolder || path.endsWith(LOCK_FOLDER)) continue;
    for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' })) requireMode(folder, join(path, name), constants.R_OK | constants.W_OK);
  }
}

function requireMode(folder: string, path: string, mode: number): void {
  try {
    accessSync(path, mode);
  } catch (error) {
    // Another process may have removed a temporary file meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw toDataDirError(folder, error, mode === constants.R_OK ? 'read' : 'written');
  }
}

const FULL_DISK = ['ENOSPC', 'EDQUOT'];
const NO_ACCESS = ['EACCES', 'EPERM', 'EROFS'];

/** CONFIG_INVALID naming the path for an error of the file system in the folder; other errors are returned as they are. */
export function toDataDirError(folder: string, error: unknown, verb: 'read' | 'written' = 'written'): unknown {
  const { code = '', path, syscall } = Object(error) as NodeJS.ErrnoException;
  // A write to an open file names no path, and neither does a connection.
  if (path === undefined ? !FULL_DISK.includes(code) : syscall === undefined || !resolve(path).startsWith(folder)) return error;
  const why = FULL_DISK.includes(code)
    ? `its disk is full (${code})`
    : NO_ACCESS.includes(code)
      ? `${path} cannot be ${verb} (${code})`
      : getErrorMessage(error);
  const suggestedAction = FULL_DISK.includes(code)
    ? 'Make room on the disk of the folder.'
    : 'Give this user the right to read and write all of it, or set DATA_DIR to another folder.';
  return new OracleError('CONFIG_INVALID', `The data folder ${folder} cannot be used: ${why}`, { field: 'DATA_DIR', suggestedAction, cause: error });
}

/** DATA_DIR_DAMAGED; `why` completes "cannot be used:". */
export function damagedDataDirError(folder: string, why: string, { suggestedAction = formatRemedy(folder), cause }: DamageOptions = {}): OracleError {
  const message = `The data folder ${resolve(folder)} cannot be used: ${why}`;
  return new OracleError('DATA_DIR_DAMAGED', message, { field: 'DATA_DIR', suggestedAction, cause });
}

interface DamageOptions {
  suggestedAction?: string;
  cause?: unknown;
}

/** DATA_DIR_DAMAGED for one part of a folder that the caller does not know: `inDataDir` adds what to do. */
export function damagedPartError(message: string, cause?: unknown): OracleError {
  return new OracleError('DATA_DIR_DAMAGED', message, { field: 'DATA_DIR', cause });
}

/** Runs work on the parts of a folder: what it throws names the folder, and the command that resets this one. */
export async function inDataDir<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_DAMAGED') || error.suggestedAction !== undefined) throw toDataDirError(resolve(folder), error);
    throw new OracleError(error.code, error.message, { field: error.field, suggestedAction: formatRemedy(folder), cause: error.cause });
  }
}

function formatRemedy(folder: string): string {
  return `Put back a copy of the folder, or begin a new record: ${formatResetCommand(folder)}`;
}

/** Resets this folder, whatever DATA_DIR is in the shell that runs it. */
export function formatResetCommand(folder: string): string {
  return resolve(folder) === resolve('data') ? 'npm run reset' : `DATA_DIR=${quoteForShell(resolve(folder))} npm run reset`;
}

export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
