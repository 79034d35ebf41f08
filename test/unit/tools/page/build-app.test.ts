import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import packageJson from '../../../../package.json' with { type: 'json' };
import { type AppDocuments, readAppDocuments } from '../../../../src/mcp/protocol.ts';
import { APP_VIEWS } from '../../../../src/page/mcp-app.ts';
import { buildApp } from '../../../../src/tools/page.ts';

let folder: string;
let documents: AppDocuments;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcp-app-'));
  documents = await buildApp(pathToFileURL(`${folder}/`));
});
afterAll(() => rm(folder, { recursive: true }));

it('writes one document a view, which the reader finds', async () => {
  expect(Object.keys(documents)).toEqual([...APP_VIEWS]);
  expect(readAppDocuments(pathToFileURL(`${folder}/`))).toEqual(documents);
  expect(await readFile(join(folder, 'record.html'), 'utf8')).toContain(`data-view="record" data-version="${packageJson.version}"`);
});

it('reads no documents where none were built', () => {
  expect(readAppDocuments(pathToFileURL(`${folder}/missing/`))).toBeUndefined();
});

it.each(APP_VIEWS)('is self-contained, below 30 kB, and permits no connection: %s', (view) => {
  const html = documents[view];
  expect(Buffer.byteLength(html)).toBeLessThan(30_000);
  expect(html).not.toMatch(
    /\b(?:src|href)=|@import|url\(|https?:\/\/(?!www\.w3\.org\/2000\/svg)|innerHTML|\beval\b|Function\(|fetch\(|WebSocket/,
  );
  const [, style, script] = /<style>(.*)<\/style>.*<script>(.*)<\/script><\/body>/s.exec(html)!;
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(html)![1].replaceAll('&#39;', "'");
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
});
