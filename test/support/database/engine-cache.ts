import { mkdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Kept between runs; every use checks its content. */
export const ENGINE_CACHE = resolve(import.meta.dirname, '../../../node_modules/.cache/embedded-mongodb');

/** Has a new data folder use that cache: an own one is 37 MB, written at each first start. */
export async function linkEngineCache(dataDir: string): Promise<void> {
  await mkdir(ENGINE_CACHE, { recursive: true, mode: 0o700 });
  await symlink(ENGINE_CACHE, join(dataDir, 'cache'));
}
