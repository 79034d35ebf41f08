import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { loginToken } from '../support/auth/login.ts';
import { ROOT } from '../support/docs/documents.ts';
import { removeFolder } from '../support/docs/folders.ts';
import { type Served, serve } from '../support/http/serve.ts';
import { createStranger, findNodeFolder } from '../support/packages/stranger.ts';
import { youngService } from '../support/service/full-service.ts';
import type { TestService } from '../support/service/service.ts';

interface Manifest {
  name: string;
  version: string;
  tools: { name: string }[];
  user_config: Record<string, { sensitive: boolean }>;
}
interface McpConfig {
  command: string;
  args: string[];
  env: Record<string, string>;
}
/** The part of the package of the format that hosts use. */
interface HostLibrary {
  getMcpConfigForManifest(options: Record<string, unknown>): Promise<McpConfig | undefined>;
}

const TOOL = join(ROOT, 'bin/dev/packages/mcpb/node_modules/@anthropic-ai/mcpb');

let built: string;
let unpacked: string;
let manifest: Manifest;
let service: TestService;
let server: Served;
beforeAll(async () => {
  built = await mkdtemp(join(tmpdir(), 'oracle-mcpb-'));
  const run = (...words: string[]) => promisify(execFile)(process.execPath, words, { cwd: ROOT });
  await run('bin/dev/packages/build-mcpb.mjs', join(built, 'contents'));
  const [bundle] = (await readdir(built)).filter((name) => name.endsWith('.mcpb'));
  unpacked = join(built, 'unpacked');
  await run(join(TOOL, 'dist/cli/cli.js'), 'unpack', join(built, bundle!), unpacked);
  manifest = JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'));
  service = await youngService();
  server = await serve(service);
});
afterAll(async () => {
  await server?.close();
  await service?.stop();
  await removeFolder(built);
});

/** The command of a host whose user has entered something. */
async function configure(userConfig: Record<string, string>): Promise<McpConfig> {
  const { getMcpConfigForManifest }: HostLibrary = await import(join(TOOL, 'dist/index.js'));
  const options = { manifest, extensionPath: unpacked, systemDirs: {}, userConfig, pathSeparator: '/' };
  return (await getMcpConfigForManifest(options))!;
}

it('has the version of the project, and marks what is secret', () => {
  expect(manifest).toMatchObject({ name: 'bitcoin-signal-oracle', version: packageJson.version });
  expect(Object.entries(manifest.user_config).map(([key, { sensitive }]) => [key, sensitive])).toEqual([
    ['service_url', false],
    ['api_key', true],
    ['private_key', true],
  ]);
});

it('asks the service of this machine when its user enters nothing', async () => {
  expect((await configure({})).env).toEqual({ ORACLE_URL: 'http://127.0.0.1:3000', ORACLE_TOKEN: '', PRIVATE_KEY: '' });
});

describe.each([20, 22] as const)('the bundle on Node %i', (major) => {
  const node = findNodeFolder(major);

  it.skipIf(node === null)('starts as its manifest says, lists the tools that it names, and calls them', async () => {
    const stranger = await createStranger(node!);
    const { command, args, env } = await configure({ service_url: server.url, api_key: await loginToken(service, 'basic') });
    expect((await stranger.run(command, ['--version'])).stdout).toMatch(new RegExp(`^v${major}\\.`));
    const client = await stranger.openMcp(command, args, env);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(manifest.tools.map(({ name }) => name));
    const { structuredContent } = await client.callTool({ name: 'predict_btc_direction', arguments: { horizon: '7d' } });
    expect(structuredContent).toMatchObject({ horizon: '7d' });
    await client.close();
    await removeFolder(stranger.folder);
  });

  it.skipIf(node === null)('needs no key for what is public, and logs a wallet in', async () => {
    const stranger = await createStranger(node!);
    const private_key = service.infrastructure.demo!.wallets.basic!.privateKey;
    for (const [entered, isHidden] of [
      [{}, true],
      [{ private_key }, false],
    ] as const) {
      const { command, args, env } = await configure({ service_url: server.url, ...entered });
      const client = await stranger.openMcp(command, args, env);
      const { structuredContent } = await client.callTool({ name: 'predict_btc_direction', arguments: {} });
      expect((structuredContent as { signal: string }).signal === 'GATED').toBe(isHidden);
      expect((await client.callTool({ name: 'get_market_context', arguments: {} })).isError).toBeUndefined();
      await client.close();
    }
    await removeFolder(stranger.folder);
  });
});
