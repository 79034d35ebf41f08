import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { digestSources, MANIFEST, type ServiceBundle } from '../../../bin/service/bundle.mjs';
import { buildOpenApiDocument } from '../../../src/http/openapi/document.ts';
import { declaredRoutes } from '../../../src/http/routes.ts';
import { buildService } from '../../../src/tools/service.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const node = async (...words: string[]) => (await promisify(execFile)(process.execPath, words)).stdout.trim();

describe('an entry module', () => {
  let root: string;
  const put = async (path: string, text: string) => {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  };
  const bundle = (sources: string[]) =>
    put(
      'dist/service/manifest.json',
      JSON.stringify({ 'src/main.ts': { output: 'main.mjs', sources, digest: digestSources(root, sources) } }),
    );
  const load = () =>
    node(
      '--input-type=module',
      '--eval',
      `import { useBundle } from ${JSON.stringify(pathToFileURL(join(root, 'bin/service/bundle.mjs')).href)};
      useBundle();
      const { from } = await import(${JSON.stringify(pathToFileURL(join(root, 'src/main.ts')).href)});
      console.log(from, (await import(${JSON.stringify(pathToFileURL(join(root, 'src/other.ts')).href)})).from);`,
    );

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'oracle-bundle-'));
    await put('package.json', '{ "type": "module" }');
    await put('src/main.ts', `export const from: string = 'source';`);
    await put('src/other.ts', `export const from: string = 'other source';`);
    await put('dist/service/main.mjs', `export const from = 'bundle';`);
    await mkdir(join(root, 'bin/service'), { recursive: true });
    await copyFile(join(ROOT, 'bin/service/bundle.mjs'), join(root, 'bin/service/bundle.mjs'));
  });
  afterEach(() => rm(root, { recursive: true }));

  it('is loaded from its bundle while all sources of the bundle are the same, and no other module is', async () => {
    await bundle(['src/main.ts', 'src/other.ts']);
    expect(await load()).toBe('bundle other source');
  });

  it('is loaded from its source where a source of the bundle has changed or is gone, and without a bundle', async () => {
    expect(await load()).toBe('source other source');
    await put('src/third.ts', '');
    await bundle(['src/main.ts', 'src/third.ts']);
    expect(await load()).toBe('bundle other source');
    await put('src/third.ts', 'export {};');
    expect(await load()).toBe('source other source');
    await rm(join(root, 'src/third.ts'));
    expect(await load()).toBe('source other source');
    await put('dist/service/manifest.json', '{');
    expect(await load()).toBe('source other source');
  });
});

describe('the bundle of the service', () => {
  const folder = join(ROOT, 'dist', `service-test-${process.pid}`);
  let bundles: Record<string, ServiceBundle>;
  beforeAll(async () => {
    await buildService(folder);
    bundles = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('depends on the sources of each process and on the lock file', () => {
    expect(Object.keys(bundles)).toHaveLength(4);
    for (const { sources } of Object.values(bundles)) expect(sources).toContain('package-lock.json');
    const { 'src/main.ts': service, 'src/pipeline/compute-child.ts': child } = bundles;
    expect(service.sources).toEqual(expect.arrayContaining(['src/main.ts', 'src/pipeline/schedule.ts', 'package.json']));
    expect(child.sources).toContain('src/forecast/fit.ts');
    expect(child.sources).not.toContain('src/main.ts');
  });

  it('loads, and finds files and child processes where the sources are', async () => {
    await node(
      '--input-type=module',
      '--eval',
      `await import(${JSON.stringify(pathToFileURL(join(folder, bundles['src/main.ts'].output)).href)});`,
    );
    const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
    expect(texts.join('\n')).toContain('new URL("./mongo-host.ts", new URL("../../src/dev/embedded-mongo.ts", import.meta.url).href)');
  });

  it('holds the OpenAPI document of its sources, so that the first reader of a start waits for nothing', async () => {
    const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
    const literal = texts.map((text) => /PREPARED_OPERATIONS = (\{[^}]*\})/.exec(text)?.[1]).find((found) => found !== undefined)!;
    const prepared = Object.values(JSON.parse(literal) as Record<string, string>);
    const built = [true, false].map((hasDemo) => {
      const { tags, paths, components } = buildOpenApiDocument(declaredRoutes({ hasDemo }), { publicUrl: 'https://oracle.test' });
      return JSON.stringify({ tags, paths, components });
    });
    expect(built[0]).not.toBe(built[1]);
    expect(prepared.map((text) => brotliDecompressSync(Buffer.from(text, 'base64')).toString())).toEqual(built);
  });

  it('is built anew beside its last build, and without those before', async () => {
    const build = async (name: string, hoursAgo: number) => {
      await writeFile(join(folder, name), '');
      const at = new Date(Date.now() - hoursAgo * 3_600_000);
      await utimes(join(folder, name), at, at);
    };
    await build('chunk-of-the-last-build.mjs', 48);
    await build('chunk-of-an-earlier-build.mjs', 72);
    const last = new Date(Date.now() - 48 * 3_600_000);
    await utimes(join(folder, MANIFEST), last, last);
    await buildService(folder);
    const names = await readdir(folder);
    expect(names).toEqual(expect.arrayContaining(['chunk-of-the-last-build.mjs', MANIFEST, bundles['src/main.ts'].output]));
    expect(names).not.toContain('chunk-of-an-earlier-build.mjs');
  });

  it('has one byte a character', async () => {
    for (const { output } of Object.values(bundles)) expect(await readFile(join(folder, output), 'utf8')).toMatch(/^[\0-\x7f]*$/);
  });
});
