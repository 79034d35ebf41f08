import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureRelinkedFiles, type PinnedPackage, relinkForOlderGlibc } from '../../../../src/dev/relink.ts';
import { type Import, syntheticElf } from './synthetic-elf.ts';

const OLD: Import = ['libc.so.6', 'GLIBC_2.2.5', 'malloc'];
const STRTOL: Import = ['libc.so.6', 'GLIBC_2.38', '__isoc23_strtol'];
const FMOD: Import = ['libm.so.6', 'GLIBC_2.38', 'fmod'];
const LIBRARIES = { 'engine.node': syntheticElf([OLD, STRTOL]), 'engine.so': syntheticElf([OLD, STRTOL, FMOD]) };

let root: string;
let packageDir: string;
let cacheDir: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'oracle-relink-'));
  packageDir = root;
  cacheDir = join(root, 'cache', 'deeper');
  for (const [name, bytes] of Object.entries(LIBRARIES)) await writeFile(join(packageDir, name), bytes);
});
afterEach(() => rm(root, { recursive: true }));

describe('relinkedFiles', () => {
  it('writes relinked copies into a folder named after package, version and content', async () => {
    const folder = await ensureRelinkedFiles(packageDir, cacheDir, pinned());
    expect(folder).toMatch(/\/cache\/deeper\/engine-linux-1\.2\.3-[0-9a-f]{12}$/);
    expect((await readdir(folder)).sort()).toEqual(['engine.node', 'engine.so']);
    for (const [name, bytes] of Object.entries(LIBRARIES)) {
      expect((await readFile(join(folder, name))).equals(relinkForOlderGlibc(bytes))).toBe(true);
    }
  });

  it('does not write again what is there', async () => {
    const folder = await ensureRelinkedFiles(packageDir, cacheDir, pinned());
    const before = await stat(join(folder, 'engine.so'));
    await rm(join(packageDir, 'engine.so'));
    expect(await ensureRelinkedFiles(packageDir, cacheDir, pinned())).toBe(folder);
    expect((await stat(join(folder, 'engine.so'))).ino).toBe(before.ino);
  });

  it('replaces a copy that was cut off or changed', async () => {
    const folder = await ensureRelinkedFiles(packageDir, cacheDir, pinned());
    await truncate(join(folder, 'engine.node'), 100);
    await writeFile(join(folder, 'engine.so'), LIBRARIES['engine.so']);
    await ensureRelinkedFiles(packageDir, cacheDir, pinned());
    for (const [name, bytes] of Object.entries(LIBRARIES)) {
      expect((await readFile(join(folder, name))).equals(relinkForOlderGlibc(bytes))).toBe(true);
    }
  });

  it('rejects a file other than the pinned one, and leaves nothing of it', async () => {
    await writeFile(join(packageDir, 'engine.so'), syntheticElf([OLD, FMOD]));
    await expect(ensureRelinkedFiles(packageDir, cacheDir, pinned())).rejects.toThrow(
      'engine.so is not the file this version was tested with',
    );
    const [folder] = await readdir(cacheDir);
    expect(await readdir(join(cacheDir, folder))).not.toContain('engine.so');
  });

  it('rejects a truncated file, also one whose hash is pinned', async () => {
    const half = LIBRARIES['engine.so'].subarray(0, 300);
    await writeFile(join(packageDir, 'engine.so'), half);
    await expect(ensureRelinkedFiles(packageDir, cacheDir, pinned())).rejects.toThrow('not the file');
    const manifest = pinned();
    manifest.files[1]!.sha256 = sha256(half);
    await expect(ensureRelinkedFiles(packageDir, cacheDir, manifest)).rejects.toThrow('truncated');
  });

  it('rejects a result other than the pinned one', async () => {
    const manifest = pinned();
    manifest.files[1]!.relinkedSha256 = sha256(Buffer.from('else'));
    await expect(ensureRelinkedFiles(packageDir, cacheDir, manifest)).rejects.toThrow('relinking engine.so gave an unexpected result');
  });

  it('may be run by many at once', async () => {
    const folders = await Promise.all(Array.from({ length: 8 }, () => ensureRelinkedFiles(packageDir, cacheDir, pinned())));
    expect(new Set(folders).size).toBe(1);
    expect((await readdir(folders[0])).sort()).toEqual(['engine.node', 'engine.so']);
  });
});

function pinned(): PinnedPackage {
  const [first, ...rest] = Object.entries(LIBRARIES).map(([name, bytes]) => ({
    name,
    sha256: sha256(bytes),
    relinkedSha256: sha256(relinkForOlderGlibc(bytes)),
  }));
  return { name: '@scope/engine-linux', version: '1.2.3', files: [first, ...rest] };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
