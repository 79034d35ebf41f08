import { rename, writeFile } from 'node:fs/promises';
import { OracleError } from '../errors.ts';

/** @param product What cannot be built without it, and the script that builds it. @throws OracleError CONFIG_INVALID if the optional package esbuild is not installed */
export async function importBundler(product: { name: string; script: string }): Promise<typeof import('esbuild')> {
  try {
    return await import('esbuild');
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `The ${product.name} cannot be built: the optional package esbuild is not installed`, {
      suggestedAction: `Run "npm ci" without --omit=optional, then "npm run ${product.script}".`,
      cause,
    });
  }
}

/** A process that starts at the same time reads the old file or the new one. */
export async function writeAtomically(path: URL, text: string | Buffer): Promise<void> {
  const temporary = new URL(`${path.href}.${process.pid}`);
  await writeFile(temporary, text);
  await rename(temporary, path);
}
