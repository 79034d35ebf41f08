import { resolve } from 'node:path';
import { OracleError } from '../errors.ts';
import { LOCK_FOLDER } from './folder-lock.ts';

export const MANIFEST = 'state.json';

/** What setting up makes. The list decides what a reset may delete. */
const FILES = [MANIFEST, 'demo.json', 'keys.json'];
const FOLDERS = ['database', 'chain'];
/** Worth nothing by itself: a folder with only these counts as empty. */
const AUXILIARY = [LOCK_FOLDER, 'cache'];
/** Made by a file system, a file manager or git; neither ours nor a sign that the folder is somebody's. */
const HARMLESS = ['lost+found', '.DS_Store', '.gitkeep'];

export interface FolderContent {
  /** The JSON files of ours, by which a folder is known to be ours. */
  files: string[];
  /** All that may not be lost. */
  parts: string[];
  /** `parts`, and what goes with them in a reset. */
  ours: string[];
  /** What this program does not make. */
  unknown: string[];
}

/** Sorts the names in a folder by whether this program makes them. */
export function sortEntries(entries: readonly string[]): FolderContent {
  const files = entries.filter((name) => FILES.includes(name));
  const parts = [...files, ...entries.filter((name) => FOLDERS.includes(name))];
  const ours = entries.filter((name) => parts.includes(name) || AUXILIARY.includes(name) || isTemporary(name));
  return { files, parts, ours, unknown: entries.filter((name) => !ours.includes(name) && !HARMLESS.includes(name)) };
}

/** Left by a process that was killed while it wrote one of the files. */
function isTemporary(name: string): boolean {
  return FILES.includes(name.replace(/\.[0-9a-f-]{36}\.tmp$/, '')) && name.endsWith('.tmp');
}

/** DATA_DIR_DAMAGED; `why` completes "cannot be used:". */
export function damaged(folder: string, why: string, suggestedAction = resetCommand(folder)): OracleError {
  return new OracleError('DATA_DIR_DAMAGED', `The data folder ${folder} cannot be used: ${why}`, { field: 'DATA_DIR', suggestedAction });
}

function resetCommand(folder: string): string {
  return folder === resolve('data') ? 'npm run reset' : `DATA_DIR=${folder} npm run reset`;
}
