import { chmod, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { getErrorMessage, OracleError } from '../../../platform/errors.ts';
import type { CliContext } from '../context.ts';

/** Where this user's files of this program are: $XDG_CONFIG_HOME/bitcoin-signal-oracle. */
export function getConfigFolder({ environment }: Pick<CliContext, 'environment'>): string {
  const { XDG_CONFIG_HOME: named = '', HOME: home = '' } = environment;
  // A relative one is to be ignored (XDG Base Directory Specification).
  const base = isAbsolute(named) ? named : join(home === '' ? homedir() : home, '.config');
  return join(base, 'bitcoin-signal-oracle');
}

/** The JSON of a file; undefined where there is none, or none that can be read. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Writes a file that nobody else can read, whole or not at all. @throws OracleError CONFIG_INVALID */
export async function writePrivateFile(path: string, value: unknown): Promise<void> {
  await writeThroughDraft(path, value, (draft) => rename(draft, path));
}

/** The same for a file that is not there yet. @returns false when it is. @throws OracleError CONFIG_INVALID */
export async function createPrivateFile(path: string, value: unknown): Promise<boolean> {
  try {
    await writeThroughDraft(path, value, (draft) => link(draft, path));
    return true;
  } catch (error) {
    if (((error as OracleError).cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function writeThroughDraft(path: string, value: unknown, put: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    await ensurePrivateFolder(path);
    await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    await put(draft);
  } catch (cause) {
    throw notWritableError(path, cause);
  } finally {
    await rm(draft, { force: true });
  }
}

async function ensurePrivateFolder(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await chmod(dirname(path), 0o700);
}

function notWritableError(path: string, cause: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `${path} cannot be written: ${getErrorMessage(cause)}`, {
    field: 'XDG_CONFIG_HOME',
    suggestedAction: 'Set XDG_CONFIG_HOME to a folder that you can write to.',
    cause,
  });
}
