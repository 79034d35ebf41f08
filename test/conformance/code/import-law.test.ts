import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-law-'));
  for (const name of ['biome.json', 'bin/dev/biome/outbound.json']) await cp(join(ROOT, name), join(folder, name));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Diagnostics of one file; empty without any. */
async function lint(path: string, source: string, paths: readonly string[] = [path]): Promise<string> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), source);
  try {
    await promisify(execFile)(
      join(ROOT, 'bin/dev/biome/node_modules/.bin/biome'),
      ['lint', '--vcs-enabled=false', '--max-diagnostics=200', ...paths],
      {
        cwd: folder,
      },
    );
    return '';
  } catch (error) {
    return String((error as { stderr?: string }).stderr);
  }
}

const importing = (specifier: string) => `import { a } from '${specifier}';\n\nexport const b = a;\n`;

describe('the linter', () => {
  it.each([['examples/demo/x.ts', '../../src/platform/errors.ts']])('rejects %s importing %s', async (path, specifier) => {
    expect(await lint(path, importing(specifier))).toContain('import law');
  });

  const WAYS_OUT = [
    "export const a = fetch('https://a.example');",
    "export const a = new WebSocket('wss://a.example');",
    "import { request } from 'node:https';\n\nexport const a = request;",
    "import { get } from 'node:http';\n\nexport const a = get;",
    "import { connect } from 'node:net';\n\nexport const a = connect;",
    "import { connect } from 'node:tls';\n\nexport const a = connect;",
    "import { lookup } from 'node:dns/promises';\n\nexport const a = lookup;",
    "import { request } from 'undici';\n\nexport const a = request;",
    "import axios from 'axios';\n\nexport const a = axios;",
    "import WebSocket from 'ws';\n\nexport const a = WebSocket;",
    "import { HTTPFacilitatorClient } from '@x402/core/http';\n\nexport const a = HTTPFacilitatorClient;",
    "import { HTTPFacilitatorClient } from '@x402/core/server';\n\nexport const a = HTTPFacilitatorClient;",
    "import { createPublicClient, http } from 'viem';\n\nexport const a = createPublicClient({ transport: http() });",
  ];
  const FOLDERS = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}`);
  const OUTSIDE = [...FOLDERS, 'src', 'skills', 'agent-card'];

  /** Paths of the diagnostics on ways out, over all files in one run. */
  const waysOutFound = async (files: [path: string, source: string][]) => {
    for (const [path, source] of files.slice(1)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), source);
    }
    const [[first, source]] = files as [[string, string]];
    const found = await lint(
      first,
      source,
      files.map(([path]) => path),
    );
    return [...found.matchAll(/^(\S+out\d*\.ts):[\d:]+ lint\S+noRestricted(Imports|Globals)/gm)].map(([, path]) => path as string);
  };

  it('rejects every way out of the process outside src/platform/outbound', async () => {
    const within = (place: string) => WAYS_OUT.map((source, index): [string, string] => [`${place}/out${index}.ts`, `${source}\n`]);
    const refused = new Set(await waysOutFound(within('src/market')));
    expect([...refused].toSorted()).toEqual(
      within('src/market')
        .map(([path]) => path)
        .toSorted(),
    );
    expect(await waysOutFound(within('src/platform/outbound'))).toEqual([]);
  });

  it('rejects a planted fetch and an imported one in every folder', async () => {
    const source = `import { request } from 'undici';\n\nexport const a = [fetch('https://a.example'), request];\n`;
    const found = await waysOutFound(OUTSIDE.map((place) => [`${place}/out.ts`, source]));
    expect(found.toSorted()).toEqual(OUTSIDE.flatMap((place) => [`${place}/out.ts`, `${place}/out.ts`]).toSorted());
  });

  it('rejects a read of the environment outside the settings table', async () => {
    expect(await lint('src/http/env.ts', 'export const port = process.env.PORT;\n')).toContain('noProcessEnv');
    expect(await lint('src/config.ts', 'export const port = process.env.PORT;\n')).toBe('');
  });
});
