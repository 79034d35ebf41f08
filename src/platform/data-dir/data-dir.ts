import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { getErrorMessage, OracleError } from '../errors.ts';
import { classifyEntries, damagedDataDirError, inDataDir, MANIFEST_FILE, requireAccess } from './entries.ts';
import { acquireFolderLock } from './folder-lock.ts';
import { makeFolder, writeJsonFile } from './json-file.ts';

export interface DataDir {
  /** Absolute path. */
  path: string;
  /** True until `markReady`: the caller sets up its parts over those of an interrupted start, which contain nothing of a record. */
  isNew: boolean;
  /** ISO 8601. */
  createdAt: string;
  /** Until then the next start sets up all parts again, since the progress of this one is unknown. */
  markReady(): Promise<void>;
  /** Writes the file atomically. @param mode default: 0o600 */
  writeJson(name: DataFile, value: unknown, mode?: number): Promise<void>;
  /** @throws OracleError DATA_DIR_DAMAGED when the file is missing or not JSON */
  readJson(name: DataFile): Promise<unknown>;
  release(): Promise<void>;
}

export type DataFile = 'demo.json' | 'keys.json';

interface Manifest {
  format: number;
  createdAt: string;
  status: 'setting-up' | 'ready';
}

const MANIFEST_FORMAT = 1;

/** Creates a missing folder. @throws OracleError DATA_DIR_IN_USE naming the lock holder, DATA_DIR_DAMAGED, CONFIG_INVALID */
export async function openDataDir(path: string, { required = [] }: { required?: readonly string[] } = {}): Promise<DataDir> {
  const folder = resolve(path);
  await ensureFolder(folder);
  return inDataDir(folder, () => openFolder(folder, required));
}

async function openFolder(folder: string, required: readonly string[]): Promise<DataDir> {
  requireAccess(folder, []);
  // Checked before the lock, which would write into a foreign folder.
  requireOwnFolder(folder, await readdir(folder));
  requireAccess(folder, [MANIFEST_FILE, ...required]);
  const release = await acquireFolderLock(folder);
  try {
    const entries = await readdir(folder);
    const isEmpty = classifyEntries(entries).contents.length === 0;
    const manifest = isEmpty ? await createManifest(folder) : await readManifest(folder, entries, required);
    return createDataDir(folder, manifest, manifest.status === 'setting-up', release);
  } catch (error) {
    await release();
    throw error;
  }
}

function createDataDir(folder: string, manifest: Manifest, isNew: boolean, release: () => Promise<void>): DataDir {
  return {
    path: folder,
    isNew,
    createdAt: manifest.createdAt,
    markReady: () => inDataDir(folder, () => writeJsonFile(join(folder, MANIFEST_FILE), { ...manifest, status: 'ready' } satisfies Manifest)),
    writeJson: (name, value, mode) => inDataDir(folder, () => writeJsonFile(join(folder, name), value, mode)),
    readJson: (name) => readDataFile(folder, name),
    release,
  };
}

async function ensureFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `There can be no data folder at ${folder}: ${getErrorMessage(cause)}`, {
      field: 'DATA_DIR',
      suggestedAction: 'Set DATA_DIR to a folder that this user may write',
      cause,
    });
  }
}

function requireOwnFolder(folder: string, entries: string[]): void {
  const { unknown } = classifyEntries(entries);
  if (unknown.length === 0 || entries.includes(MANIFEST_FILE)) return;
  const names = unknown.slice(0, 3).join(', ') + (unknown.length > 3 ? ', ...' : '');
  throw damagedDataDirError(folder, `it is not a data folder of this program (it holds ${names})`, {
    suggestedAction: 'Set DATA_DIR to an empty folder',
  });
}

async function createManifest(folder: string): Promise<Manifest> {
  const manifest: Manifest = { format: MANIFEST_FORMAT, createdAt: new Date().toISOString(), status: 'setting-up' };
  await writeJsonFile(join(folder, MANIFEST_FILE), manifest);
  return manifest;
}

async function readManifest(folder: string, entries: string[], required: readonly string[]): Promise<Manifest> {
  const manifest = (await readDataFile(folder, MANIFEST_FILE)) as Partial<Manifest> | null;
  const { format, createdAt, status } = manifest ?? {};
  if (format !== MANIFEST_FORMAT) throw damagedDataDirError(folder, `${MANIFEST_FILE} says format ${format ?? '(none)'}, and this version reads ${MANIFEST_FORMAT}`);
  if (typeof createdAt !== 'string') throw damagedDataDirError(folder, `${MANIFEST_FILE} lacks createdAt`);
  if (status === 'setting-up') return { format, createdAt, status };
  if (status !== 'ready') throw damagedDataDirError(folder, `${MANIFEST_FILE} has no status that this version knows`);
  const missing = required.filter((name) => !entries.includes(name.replace(/\/$/, '')));
  if (missing.length > 0) throw damagedDataDirError(folder, `it lacks ${missing.join(', ')}`);
  return { format, createdAt, status };
}

async function readDataFile(folder: string, name: string): Promise<unknown> {
  const text = await readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw damagedDataDirError(folder, error.code === 'ENOENT' ? `it lacks ${name}` : `${name} cannot be read: ${error.message}`);
  });
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may be a key.
    throw damagedDataDirError(folder, `${name} is not valid JSON`);
  }
}
