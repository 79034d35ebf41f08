import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeFolder } from '../../support/docs/folders.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { spawnNode, type TestService, testService } from '../../support/service/service.ts';
import { asyncApiDiagnostics } from './asyncapi-diagnostics.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PACKAGES = resolve(import.meta.dirname, '../node_modules');
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', FORCE_COLOR: '0', NO_COLOR: '1' };

/** A client that names the types which it uses. */
const CLIENT = `
import type { components, paths } from './openapi.ts';
export type Signal = paths['/api/svc/open/signal']['get']['responses'][200]['content']['application/json'];
export const direction = (signal: components['schemas']['PublicSignal']): Signal['direction'] => signal.direction;
export const registration: components['schemas']['RegisterWebhookRequest'] = { url: 'https://hooks.example.com/', events: ['signal.new'] };
// @ts-expect-error An event that there is none of.
export const wrong: components['schemas']['RegisterWebhookRequest'] = { url: 'https://hooks.example.com/', events: ['signal.old'] };
`;

let service: TestService;
let served: Served;
let folder: string;
let openApi: string;

beforeAll(async () => {
  service = await testService(0);
  served = await serve(service);
  folder = await mkdtemp(join(tmpdir(), 'oracle-openapi-'));
  openApi = join(folder, 'openapi.json');
  await writeFile(openApi, await (await fetch(`${served.url}/.well-known/openapi.json`)).text());
});
afterAll(async () => {
  await removeFolder(folder);
  await served.close();
  await service.stop();
});

/** Runs a program, of these packages or by its absolute path, in a process without network access. */
async function run(program: string, words: string[], hooks: string[] = []) {
  const imports = ['test/support/network/no-network.ts', ...hooks].flatMap((hook) => ['--import', resolve(ROOT, hook)]);
  const { code, output } = await spawnNode([...imports, resolve(PACKAGES, program), ...words], QUIET).ended;
  expect(output).not.toContain('a connection was opened');
  return { code, output };
}

it('passes Redocly with the rules of redocly.yaml', async () => {
  const words = ['lint', '--config', resolve(ROOT, 'redocly.yaml'), '--format', 'stylish', openApi];
  const { code, output } = await run('@redocly/cli/bin/cli.js', words);
  expect(output).not.toMatch(/error|warning/i);
  expect(code, output).toBe(0);
});

it('passes Spectral with the whole of spectral:oas, hints included', async () => {
  const words = ['lint', '--ruleset', resolve(ROOT, '.spectral.yaml'), '--fail-severity', 'hint', openApi];
  const { code, output } = await run('@stoplight/spectral-cli/dist/index.js', words);
  expect(output).toContain("No results with a severity of 'hint' or higher found!");
  expect(code, output).toBe(0);
});

it('generates strict types with usable names in openapi-typescript', async () => {
  const types = join(folder, 'openapi.ts');
  const generated = await run(
    'openapi-typescript/bin/cli.js',
    [openApi, '--output', types],
    ['test/conformance/documents/typescript-api.mjs'],
  );
  expect(generated.code, generated.output).toBe(0);
  expect(generated.output).not.toMatch(/warn|error/i);
  const client = join(folder, 'client.ts');
  await writeFile(client, CLIENT);
  const options = ['--ignoreConfig', '--strict', '--noEmit', '--allowImportingTsExtensions', '--target', 'es2023', '--module', 'nodenext'];
  const { code, output } = await run(resolve(ROOT, 'node_modules/typescript/bin/tsc'), [...options, types, client]);
  expect(output).toBe('');
  expect(code).toBe(0);
});

it('passes the AsyncAPI parser, hints included', async () => {
  expect(await asyncApiDiagnostics(await (await fetch(`${served.url}/.well-known/asyncapi.json`)).text())).toEqual([]);
});
