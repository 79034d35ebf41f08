import { resolve } from 'node:path';
import { OracleError } from '../errors.ts';
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

/** DATA_DIR_DAMAGED; `why` completes "cannot be used:". */
export function damagedDataDirError(folder: string, why: string, suggestedAction = formatResetCommand(folder)): OracleError {
  return new OracleError('DATA_DIR_DAMAGED', `The data folder ${folder} cannot be used: ${why}`, { field: 'DATA_DIR', suggestedAction });
}

/** DATA_DIR_DAMAGED for one part of the folder. */
export function damagedPartError(message: string, cause?: unknown): OracleError {
  return new OracleError('DATA_DIR_DAMAGED', message, { field: 'DATA_DIR', suggestedAction: 'npm run reset', cause });
}

function formatResetCommand(folder: string): string {
  return folder === resolve('data') ? 'npm run reset' : `DATA_DIR=${folder} npm run reset`;
}
