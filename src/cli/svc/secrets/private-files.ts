import { chmod, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { makeFolder } from '../../../platform/data-dir/json-file.ts';
import { getErrorMessage, OracleError } from '../../../platform/errors.ts';
import type { CliContext } from '../context.ts';

/** $XDG_CONFIG_HOME/bitcoin-signal-oracle, with the default of the XDG Base Directory Specification. */
export function getConfigFolder({ environment }: Pick<CliContext, 'environment'>): string {
  const { XDG_CONFIG_HOME: named = '', HOME: home = '' } = environment;
  // The specification ignores relative paths.
  const base = isAbsolute(named) ? named : join(home === '' ? homedir() : home, '.config');
  return join(base, 'bitcoin-signal-oracle');
}

/** Undefined when the file is missing or not JSON. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Writes a file with mode 0600, atomically. @throws OracleError CONFIG_INVALID */
export async function writePrivateFile(path: string, value: unknown): Promise<void> {
  await writeThroughDraft(path, value, (draft) => rename(draft, path));
}

/** Like `writePrivateFile` for a new file. @returns false when it exists @throws OracleError CONFIG_INVALID */
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
  await makeFolder(dirname(path));
  await chmod(dirname(path), 0o700);
}

function notWritableError(path: string, cause: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `${path} cannot be written: ${getErrorMessage(cause)}`, {
    field: 'XDG_CONFIG_HOME',
    suggestedAction: 'Set XDG_CONFIG_HOME to a writable folder.',
    cause,
  });
}
