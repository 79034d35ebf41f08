import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PinnedFile, PinnedPackage } from './pins.ts';
import { relinkForOlderGlibc } from './relink.ts';

/** Inputs and results must have the pinned hashes: a truncated or modified copy is created again. */
export async function ensureRelinkedFiles(packageDir: string, cacheDir: string, pinned: PinnedPackage): Promise<string> {
  const folder = join(cacheDir, `${pinned.name.replace(/^.*\//, '')}-${pinned.version}-${pinned.files[0].relinkedSha256.slice(0, 12)}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Sequentially: after a rejection no other file is being written.
  for (const file of pinned.files) await ensureRelinked(packageDir, folder, file);
  return folder;
}

async function ensureRelinked(packageDir: string, folder: string, file: PinnedFile): Promise<void> {
  const target = join(folder, file.name);
  const cached = await readFile(target).catch(() => undefined);
  if (cached && hashSha256(cached) === file.relinkedSha256) return;
  const original = await readFile(join(packageDir, file.name));
  if (hashSha256(original) !== file.sha256) throw new Error(`${file.name} is not the file this version was tested with (sha-256 differs)`);
  const relinked = relinkForOlderGlibc(original);
  if (hashSha256(relinked) !== file.relinkedSha256) throw new Error(`relinking ${file.name} gave an unexpected result (sha-256 differs)`);
  // Atomically, since another process may be mapping or writing the file.
  const temporary = `${target}.${randomUUID()}.tmp`;
  await writeFile(temporary, relinked, { mode: 0o600 });
  await rename(temporary, target);
}

function hashSha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
