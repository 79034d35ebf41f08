import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OWN_BUNDLES, readPageBundle } from '../../../../src/http/routes/home.ts';
import { type BuiltPage, buildPage, readLicenseNotice } from '../../../../src/tools/page.ts';

let folder: string;
let page: BuiltPage;
const url = () => pathToFileURL(`${folder}/`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'page-'));
  await writeFile(join(folder, 'page-0123456789abcdef.js'), 'of an earlier build');
  await writeFile(join(folder, 'page-0123456789abcdef.js.br'), 'of an earlier build');
  page = await buildPage(url());
});
afterAll(() => rm(folder, { recursive: true }));

it('writes scripts and style sheets and the manifest that names them, and removes earlier files', async () => {
  const names = page.files.map(({ name }) => name);
  const bundles = [page.names, ...OWN_BUNDLES.map((own) => page.names[own])];
  expect(names.toSorted()).toEqual(bundles.flatMap(({ script, style }) => [script, style]).toSorted());
  for (const { script, style } of bundles) {
    expect(script).toMatch(/^page-[0-9a-f]{16}\.js$/);
    expect(style).toMatch(/^page-[0-9a-f]{16}\.css$/);
  }
  const compressed = names.map((name) => `${name}.br`);
  expect((await readdir(folder)).toSorted()).toEqual(['manifest.json', ...names, ...compressed].toSorted());
  expect(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))).toEqual(page.names);
});

it('gives the same names to the same sources', async () => {
  expect((await buildPage(url())).files).toEqual(page.files);
});

/** Pure functions that the page may share with the server; types of responses are erased. */
const SHARED = [
  /^src\/(?:page|verify|audit|forecast)\//,
  /^src\/(?:errors|chain\/(?:addresses|rpc|eas\/(?:schemas|commitment|reader))|commerce\/(?:receipts|payment-signer))\.ts$/,
];
const PACKAGES = /^node_modules\/(?:@noble\/(?:hashes|curves)|viem|abitype|ox|zod|multiformats|canonicalize|preact)\//;

it('bundles nothing of the server', () => {
  expect(page.inputs.filter((path) => ![...SHARED, PACKAGES].some((allowed) => allowed.test(path)))).toEqual([]);
  expect(page.inputs.length).toBeGreaterThan(50);
});

it('stays below 122 kB compressed, and the page of access below 7 kB', () => {
  const sizeOf = ({ script, style }: { script: string; style: string }) =>
    page.files.reduce((sum, { name, brotli }) => (name === script || name === style ? sum + brotli.length : sum), 0);
  expect(sizeOf(page.names)).toBeLessThan(122_000);
  expect(sizeOf(page.names.access)).toBeLessThan(7_000);
  for (const { text, brotli } of page.files) expect(brotliDecompressSync(brotli).toString()).toBe(text);
});

it('names the packages in the script with license and copyright', async () => {
  expect(page.files.find(({ name }) => name === page.names.script)!.text).toMatch(
    /^\/\*! .*@noble\/hashes \d+\.\d+\.\d+, MIT License, Copyright \(c\) 2022 Paul Miller[^\n]* \*\/\n/,
  );
  await mkdir(join(folder, 'node_modules/@a/b'), { recursive: true });
  await writeFile(join(folder, 'node_modules/@a/b/package.json'), '{"name":"@a/b","version":"1.2.3","license":"ISC"}');
  expect(await readLicenseNotice(`${folder}/`, ['src/x.ts', 'node_modules/@a/b/c/d.js', 'node_modules/@a/b/e.js'])).toBe(
    '/*! @a/b 1.2.3, ISC License */\n',
  );
  expect(await readLicenseNotice(`${folder}/`, ['src/x.ts'])).toBe('');
});

it('fails with the command when the page has not been built', () => {
  expect(() => readPageBundle(new URL('missing/', url()))).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('missing/manifest.json'),
      suggestedAction: expect.stringContaining('npm run build:page'),
    }),
  );
});
