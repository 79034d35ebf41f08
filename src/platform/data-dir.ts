import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getErrorMessage, isOracleError, OracleError } from '../errors.ts';
import { makeFolder, readJsonFileOrNull, replaceFile } from './secrets.ts';

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

type DataFile = 'demo.json' | 'keys.json';

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
    markReady: () =>
      inDataDir(folder, () => writeJsonFile(join(folder, MANIFEST_FILE), { ...manifest, status: 'ready' } satisfies Manifest)),
    writeJson: (name, value, mode) => inDataDir(folder, () => writeJsonFile(join(folder, name), value, mode)),
    readJson: (name) => readDataFile(folder, name),
    release,
  };
}

async function writeJsonFile(path: string, value: unknown, mode?: number): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, { mode });
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
  if (format !== MANIFEST_FORMAT)
    throw damagedDataDirError(folder, `${MANIFEST_FILE} says format ${format ?? '(none)'}, and this version reads ${MANIFEST_FORMAT}`);
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

const LOCK_FOLDER = 'lock';

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

/** Start time, and boot id on Linux: differs from that of a later process with the same pid. Undefined if none runs; zombies do not. */
export function getProcessIdentity(pid: number): string | undefined {
  try {
    return process.platform === 'linux' ? readProcIdentity(pid) : readPsIdentity(pid);
  } catch {
    return undefined;
  }
}

function readProcIdentity(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The bracketed command name may contain spaces and brackets; proc(5) counts the next field as 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[22 - 3]];
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return state === 'Z' || state === 'X' ? undefined : `${boot} ${startTicks}`;
}

function readPsIdentity(pid: number): string | undefined {
  // `ps` prints dates in the user's locale and time zone.
  const env = { LC_ALL: 'C', TZ: 'UTC' };
  const [state, ...started] = execFileSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', env })
    .trim()
    .split(/\s+/);
  return state === '' || state.startsWith('Z') ? undefined : started.join(' ');
}

export const MANIFEST_FILE = 'state.json';

/** Created by the setup. A reset deletes only these. */
const DATA_FILES = [MANIFEST_FILE, 'demo.json', 'keys.json'];
const DATA_FOLDERS = ['database', 'chain'];
/** A folder with only these counts as empty. */
const AUXILIARY_NAMES = [LOCK_FOLDER, 'cache'];
/** Created by file systems, file managers and git: not a sign of a foreign folder. */
const IGNORED_NAMES = ['lost+found', '.DS_Store', '.gitkeep'];

interface DataDirEntries {
  /** JSON files that identify a data folder. */
  files: string[];
  /** Everything worth keeping. */
  contents: string[];
  /** `contents` and all that a reset deletes with them. */
  owned: string[];
  /** Not created by this program. */
  unknown: string[];
}

function classifyEntries(entries: readonly string[]): DataDirEntries {
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
function requireAccess(folder: string, parts: readonly string[]): void {
  requireMode(folder, folder, constants.R_OK | constants.W_OK | constants.X_OK);
  for (const path of [LOCK_FOLDER, ...parts].map((name) => join(folder, name)).filter((path) => existsSync(path))) {
    const isFolder = statSync(path).isDirectory();
    // Files are replaced by renaming, which takes the right to write the folder alone.
    requireMode(folder, path, isFolder ? constants.R_OK | constants.W_OK : constants.R_OK);
    if (!isFolder || path.endsWith(LOCK_FOLDER)) continue;
    for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' }))
      requireMode(folder, join(path, name), constants.R_OK | constants.W_OK);
  }
}

function requireMode(folder: string, path: string, mode: number): void {
  try {
    accessSync(path, mode);
  } catch (error) {
    // Another process may have removed a temporary file meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw toDataDirError(folder, error, mode === constants.R_OK ? 'read' : 'written');
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
  return new OracleError('CONFIG_INVALID', `The data folder ${folder} cannot be used: ${why}`, {
    field: 'DATA_DIR',
    suggestedAction,
    cause: error,
  });
}

/** DATA_DIR_DAMAGED; `why` completes "cannot be used:". */
export function damagedDataDirError(
  folder: string,
  why: string,
  { suggestedAction = formatRemedy(folder), cause }: DamageOptions = {},
): OracleError {
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
