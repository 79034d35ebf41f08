import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf, OracleError } from '../errors.ts';
import { writeJsonFile } from './atomic-file.ts';
import { damaged, MANIFEST, sortEntries } from './data-dir-content.ts';
import { lockFolder } from './folder-lock.ts';

export interface DataDir {
  /** Absolute. */
  path: string;
  /**
   * True until `markReady`: the caller sets its parts up, over whatever a start that was interrupted before it has left of them; nothing of
   * a record is among it.
   */
  isNew: boolean;
  /** ISO 8601. */
  createdAt: string;
  /** Until then the next start sets the parts up anew, since nobody knows how far this one came. */
  markReady(): Promise<void>;
  /** Written whole or not at all; `mode` is 0o600 unless told. */
  writeJson(name: DataFile, value: unknown, mode?: number): Promise<void>;
  /** Throws DATA_DIR_DAMAGED when the file is missing or not JSON. */
  readJson(name: DataFile): Promise<unknown>;
  /** Lets another process open the folder. */
  release(): Promise<void>;
}

export type DataFile = 'demo.json' | 'keys.json';

export interface DataDirOptions {
  /** Names of files and sub-folders that a folder in use must have. */
  required?: readonly string[];
}

interface Manifest {
  format: number;
  createdAt: string;
  status: 'setting-up' | 'ready';
}

const FORMAT = 1;

/**
 * Opens the service's folder for this process alone, making it if there is none.
 *
 * Throws DATA_DIR_IN_USE naming the process that has it, DATA_DIR_DAMAGED saying what is wrong with its content, and
 * CONFIG_INVALID when there can be no folder at this path.
 */
export async function openDataDir(path: string, { required = [] }: DataDirOptions = {}): Promise<DataDir> {
  const folder = resolve(path);
  await makeFolder(folder);
  // Before the lock, which would leave a trace of us in somebody else's folder.
  refuseForeign(folder, await readdir(folder));
  const release = await lockFolder(folder);
  try {
    const entries = await readdir(folder);
    const isEmpty = sortEntries(entries).parts.length === 0;
    const manifest = isEmpty ? await createManifest(folder) : await checkedManifest(folder, entries, required);
    return dataDir(folder, manifest, manifest.status === 'setting-up', release);
  } catch (error) {
    await release();
    throw error;
  }
}

function dataDir(folder: string, manifest: Manifest, isNew: boolean, release: () => Promise<void>): DataDir {
  return {
    path: folder,
    isNew,
    createdAt: manifest.createdAt,
    markReady: () => writeJsonFile(join(folder, MANIFEST), { ...manifest, status: 'ready' } satisfies Manifest),
    writeJson: (name, value, mode) => writeJsonFile(join(folder, name), value, mode),
    readJson: (name) => readJson(folder, name),
    release,
  };
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `There can be no data folder at ${folder}: ${messageOf(cause)}`, {
      field: 'DATA_DIR',
      suggestedAction: 'Set DATA_DIR to a folder that this user may write',
      cause,
    });
  }
}

function refuseForeign(folder: string, entries: string[]): void {
  const { unknown } = sortEntries(entries);
  if (unknown.length === 0 || entries.includes(MANIFEST)) return;
  const names = unknown.slice(0, 3).join(', ') + (unknown.length > 3 ? ', ...' : '');
  throw damaged(folder, `it is not a data folder of this program (it holds ${names})`, 'Set DATA_DIR to an empty folder');
}

async function createManifest(folder: string): Promise<Manifest> {
  const manifest: Manifest = { format: FORMAT, createdAt: new Date().toISOString(), status: 'setting-up' };
  await writeJsonFile(join(folder, MANIFEST), manifest);
  return manifest;
}

async function checkedManifest(folder: string, entries: string[], required: readonly string[]): Promise<Manifest> {
  const manifest = (await readJson(folder, MANIFEST)) as Partial<Manifest> | null;
  const { format, createdAt, status } = manifest ?? {};
  if (format !== FORMAT) throw damaged(folder, `${MANIFEST} says format ${format ?? '(none)'}, and this version reads ${FORMAT}`);
  if (typeof createdAt !== 'string') throw damaged(folder, `${MANIFEST} lacks createdAt`);
  if (status === 'setting-up') return { format, createdAt, status };
  if (status !== 'ready') throw damaged(folder, `${MANIFEST} has no status that this version knows`);
  const missing = required.filter((name) => !entries.includes(name.replace(/\/$/, '')));
  if (missing.length > 0) throw damaged(folder, `it lacks ${missing.join(', ')}`);
  return { format, createdAt, status };
}

async function readJson(folder: string, name: string): Promise<unknown> {
  const text = await readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw damaged(folder, error.code === 'ENOENT' ? `it lacks ${name}` : `${name} cannot be read: ${error.message}`);
  });
  try {
    return JSON.parse(text);
  } catch {
    // Without the parser's words, which quote the text: it may be a key.
    throw damaged(folder, `${name} is not valid JSON`);
  }
}
