import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-law-'));
  for (const name of ['biome.json', 'outbound.biome.json']) await cp(join(ROOT, name), join(folder, name));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the linter says of one file; empty when it is content. */
async function lint(path: string, source: string, paths: readonly string[] = [path]): Promise<string> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), source);
  try {
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/biome'), ['lint', '--vcs-enabled=false', '--max-diagnostics=200', ...paths], {
      cwd: folder,
    });
    return '';
  } catch (error) {
    return String((error as { stderr?: string }).stderr);
  }
}

const importing = (specifier: string) => `import { a } from '${specifier}';\n\nexport const b = a;\n`;

describe('the import law', () => {
  it.each([
    ['src/forecast/x.ts', '../market/feed.ts'],
    ['src/forecast/x.ts', 'node:fs'],
    ['src/forecast/deep/x.ts', '../../mongo.ts'],
    ['src/forecast/x.ts', '../platform/turns.ts'],
    ['src/platform/x.ts', '../chain/client.ts'],
    ['src/platform/outbound/x.ts', '../../push/channels.ts'],
    ['src/platform/outbound/x.ts', '../../config.ts'],
    ['src/market/x.ts', '../chain/eas.ts'],
    ['src/chain/x.ts', '../record/forecasts.ts'],
    ['src/wager/x.ts', '../market/market.ts'],
    ['src/record/x.ts', '../pipeline/signal.ts'],
    ['src/pipeline/x.ts', '../push/events.ts'],
    ['src/pipeline/x.ts', '../local/replay.ts'],
    ['src/contest/x.ts', '../commerce/offerings.ts'],
    ['src/commerce/x.ts', '../contest/rounds.ts'],
    ['src/http/x.ts', '../compose/door.ts'],
    ['src/http/x.ts', '../mcp/server.ts'],
    ['src/mcp/x.ts', '../a2a/server.ts'],
    ['src/http/x.ts', '../local/data-dir.ts'],
    ['src/audit/x.ts', '../record/forecasts.ts'],
    ['src/audit/x.ts', '../mongo.ts'],
    ['src/audit/x.ts', '../demo-login.ts'],
    ['src/audit/x.ts', '../audit-command.ts'],
    ['src/audit/x.ts', 'mongodb'],
    ['src/cli/svc/commands/x.ts', '../../record/views.ts'],
    ['src/cli/x.ts', '../commerce/till.ts'],
    ['src/cli/x.ts', '../config.ts'],
    ['src/cli/x.ts', '../main.ts'],
    ['src/audit/x.ts', '../cli/host.ts'],
    ['src/http/x.ts', '../cli/host.ts'],
    ['src/dashboard/lib/x.js', '../../errors.ts'],
    ['src/dashboard/parts/x.js', '../../record/schemas/signal.ts'],
    ['src/dashboard/state/responses.ts', '../../record/views.ts'],
    ['src/dashboard/state/x.js', './answers.ts'],
    ['skills/x.ts', '../src/http/app.ts'],
    ['examples/demo/x.ts', '../../src/errors.ts'],
  ])('refuses %s importing %s', async (path, specifier) => {
    expect(await lint(path, importing(specifier))).toContain('import law');
  });

  it.each([
    ['src/forecast/deep/x.ts', '../day.ts'],
    ['src/forecast/x.ts', '../errors.ts'],
    ['src/market/x.ts', '../forecast/day.ts'],
    ['src/record/x.ts', '../chain/eas.ts'],
    ['src/pipeline/x.ts', '../record/forecasts.ts'],
    ['src/http/x.ts', '../record/views.ts'],
    ['src/http/x.ts', '../contest/rounds.ts'],
    ['src/audit/x.ts', '../chain/eas.ts'],
    ['src/local/x.ts', '../pipeline/signal.ts'],
    ['src/audit/x.ts', '../platform/outbound/operator-fetch.ts'],
    ['src/platform/outbound/x.ts', '../../errors.ts'],
    ['src/dashboard/parts/x.js', '../lib/dom.js'],
    ['src/dashboard/lib/x.js', '../vendor/sha3.js'],
    ['src/dashboard/state/responses.ts', '../../record/schemas/signal.ts'],
    ['src/cli/x.ts', '../audit/audit.ts'],
    ['src/cli/x.ts', './main.ts'],
    ['src/cli/pay/x.ts', '../../commerce/receipt.ts'],
  ])('lets %s import %s', async (path, specifier) => {
    expect(await lint(path, importing(specifier))).toBe('');
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
    "import { createPublicClient, http } from 'viem';\n\nexport const a = createPublicClient({ transport: http() });",
  ];
  const FOLDERS = 'access a2a audit chain cli commerce compose contest http local market mcp pipeline push record wager'.split(' ');
  const OUTSIDE = [...FOLDERS.map((folder) => `src/${folder}`), 'src', 'src/platform', 'skills', 'agent-card'];

  /** Complaints of the linter about ways out, over all files at once. */
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

  it('refuses every way out of the process outside src/platform/outbound', async () => {
    const within = (place: string) => WAYS_OUT.map((source, index): [string, string] => [`${place}/out${index}.ts`, `${source}\n`]);
    const refused = new Set(await waysOutFound(within('src/market')));
    expect([...refused].toSorted()).toEqual(
      within('src/market')
        .map(([path]) => path)
        .toSorted(),
    );
    expect(await waysOutFound(within('src/platform/outbound'))).toEqual([]);
  });

  it('refuses a planted fetch and an imported one in every folder', async () => {
    const source = `import { request } from 'undici';\n\nexport const a = [fetch('https://a.example'), request];\n`;
    const found = await waysOutFound(OUTSIDE.map((place) => [`${place}/out.ts`, source]));
    expect(found.toSorted()).toEqual(OUTSIDE.flatMap((place) => [`${place}/out.ts`, `${place}/out.ts`]).toSorted());
  });

  it('refuses a read of the environment outside the settings table', async () => {
    expect(await lint('src/http/env.ts', 'export const port = process.env.PORT;\n')).toContain('noProcessEnv');
    expect(await lint('src/platform/config/config.ts', 'export const port = process.env.PORT;\n')).toBe('');
  });
});
