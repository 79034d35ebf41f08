import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../../..');
let folder: string;

/** The sources without any package beside them, as after `npm ci --omit=optional` or on another platform. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oracle-bare-'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  for (const path of ['src/dev', 'src/platform', 'src/errors.ts']) {
    await cp(join(ROOT, path), join(folder, path), { recursive: true });
  }
  await writeFile(
    join(folder, 'try.ts'),
    `import { startEmbeddedMongo } from './src/dev/embedded-mongo.ts';
     const { code, message, suggestedAction } = await startEmbeddedMongo({ dbPath: 'database', cacheDir: 'cache' }).catch((error) => error);
     console.log(JSON.stringify({ code, message, suggestedAction }));`,
  );
});
afterAll(() => rm(folder, { recursive: true }));

it('names both ways out when the engine is not installed', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['try.ts'], { cwd: folder });
  const error = JSON.parse(stdout);
  expect(error.code).toBe('CONFIG_INVALID');
  expect(error.message).toMatch(/^The embedded MongoDB does not run on this machine: .*@0q\/embedded-mongodb[^\n]*$/);
  expect(error.suggestedAction).toMatch(/^Set MONGODB_URI to a MongoDB server, or run on Linux .*glibc 2\.36 or later/);
});
