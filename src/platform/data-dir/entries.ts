import { resolve } from 'node:path';
import { OracleError } from '../errors.ts';
import { LOCK_FOLDER } from './folder-lock.ts';

export const MANIFEST_FILE = 'state.json';

/** What setting up makes. The list decides what a reset may delete. */
const DATA_FILES = [MANIFEST_FILE, 'demo.json', 'keys.json'];
const DATA_FOLDERS = ['database', 'chain'];
/** Worth nothing by itself: a folder with only these counts as empty. */
const AUXILIARY_NAMES = [LOCK_FOLDER, 'cache'];
/** Made by a file system, a file manager or git; neither ours nor a sign that the folder is somebody's. */
const IGNORED_NAMES = ['lost+found', '.DS_Store', '.gitkeep'];

export interface DataDirEntries {
  /** The JSON files of ours, by which a folder is known to be ours. */
  files: string[];
  /** All that may not be lost. */
  contents: string[];
  /** `parts`, and what goes with them in a reset. */
  owned: string[];
  /** What this program does not make. */
  unknown: string[];
}

/** Sorts the names in a folder by whether this program makes them. */
export function classifyEntries(entries: readonly string[]): DataDirEntries {
  const files = entries.filter((name) => DATA_FILES.includes(name));
  const contents = [...files, ...entries.filter((name) => DATA_FOLDERS.includes(name))];
  const owned = entries.filter((name) => contents.includes(name) || AUXILIARY_NAMES.includes(name) || isTemporary(name));
  return { files, contents, owned, unknown: entries.filter((name) => !owned.includes(name) && !IGNORED_NAMES.includes(name)) };
}

/** Left by a process that was killed while it wrote one of the files. */
function isTemporary(name: string): boolean {
  return DATA_FILES.includes(name.replace(/\.[0-9a-f-]{36}\.tmp$/, '')) && name.endsWith('.tmp');
}

/** DATA_DIR_DAMAGED; `why` completes "cannot be used:". */
export function damagedDataDirError(folder: string, why: string, suggestedAction = formatResetCommand(folder)): OracleError {
  return new OracleError('DATA_DIR_DAMAGED', `The data folder ${folder} cannot be used: ${why}`, { field: 'DATA_DIR', suggestedAction });
}

function formatResetCommand(folder: string): string {
  return folder === resolve('data') ? 'npm run reset' : `DATA_DIR=${folder} npm run reset`;
}
