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
async function run(program: string, words: string[]) {
  const hook = resolve(ROOT, 'test/support/network/no-network.ts');
  const { code, output } = await spawnNode(['--import', hook, resolve(PACKAGES, program), ...words], QUIET).ended;
  expect(output).not.toContain('a connection was opened');
  return { code, output };
}

it('passes Redocly with the rules of redocly.yaml', async () => {
  const words = ['lint', '--config', resolve(ROOT, 'test/conformance/redocly.yaml'), '--format', 'stylish', openApi];
  const { code, output } = await run('@redocly/cli/bin/cli.js', words);
  expect(output).not.toMatch(/error|warning/i);
  expect(code, output).toBe(0);
});

it('passes Spectral with the whole of spectral:oas, hints included', async () => {
  const words = ['lint', '--ruleset', resolve(ROOT, 'test/conformance/spectral.yaml'), '--fail-severity', 'hint', openApi];
  const { code, output } = await run('@stoplight/spectral-cli/dist/index.js', words);
  expect(output).toContain("No results with a severity of 'hint' or higher found!");
  expect(code, output).toBe(0);
});

it('passes the AsyncAPI parser, hints included', async () => {
  expect(await asyncApiDiagnostics(await (await fetch(`${served.url}/.well-known/asyncapi.json`)).text())).toEqual([]);
});
