import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import jsTokens from 'js-tokens';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildClient } from '../../../src/tools/client.ts';
import { removeFolder } from '../../support/docs/folders.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** A program that names the types which it uses. */
const PROGRAM = `
import { createOracleClient } from 'bitcoin-signal-oracle-client';
import { ServiceProblem } from 'bitcoin-signal-oracle-client/errors';
import type { OracleEvent } from 'bitcoin-signal-oracle-client/events';
import type { components, Problem, Scorecard, Signal } from 'bitcoin-signal-oracle-client/types';
import { verifyWebhook } from 'bitcoin-signal-oracle-client/webhooks';
import type { LocalAccount } from 'viem';
declare const account: LocalAccount;
const client = createOracleClient({ url: 'https://oracle.example.org', account });
export const direction = async (): Promise<Signal['direction']> => (await client.signal()).direction;
export const verdict = ({ summary }: Scorecard): string => summary.verdict;
export const problem = (error: unknown): Partial<Problem> | null => (error instanceof ServiceProblem ? error.problem : null);
export const said = (event: OracleEvent) => (event.type === 'signal.new' ? event.data.signal : null);
export const paid = async () => (await client.buy({ what: 'premium', maxUsd: '0.01' })).answer.categories;
export const events = client.stream({ events: ['regime.changed'] });
export const regime = async () => (await events.next()).value?.data.riskLevel;
export const received = verifyWebhook('{}', {}, 'whsec_');
export const registration: components['schemas']['RegisterWebhookRequest'] = { url: 'https://hooks.example.com/', events: ['signal.new'] };
// @ts-expect-error An event that there is none of.
export const wrong: components['schemas']['RegisterWebhookRequest'] = { url: 'https://hooks.example.com/', events: ['signal.old'] };
// @ts-expect-error A payment without a limit.
export const unlimited = client.buy({ horizon: '7d' });
`;

let folder: string;
let installed: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oracle-client-'));
  const modules = join(folder, 'node_modules');
  installed = join(modules, 'bitcoin-signal-oracle-client');
  mkdirSync(modules);
  buildClient(installed);
  // As npm would install them, without asking for them.
  for (const name of ['@types', 'canonicalize', 'openapi-fetch', 'openapi-typescript-helpers', 'viem', 'zod'])
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
});
afterAll(() => removeFolder(folder));

it('compiles strictly with named types, declarations included', () => {
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];
  const target = ['--noEmit', '--target', 'es2023', '--module', 'nodenext', '--types', 'node'];
  const words = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...strict, ...target, 'program.ts'];
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8', env: {} });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

it('reads without viem, and names it where it is needed', () => {
  const viem = join(folder, 'node_modules/viem');
  unlinkSync(viem);
  try {
    const program = `
      import { createOracleClient } from 'bitcoin-signal-oracle-client';
      const client = createOracleClient({ url: 'http://127.0.0.1:1' });
      const codes = [() => client.signal(), () => client.buy({ maxUsd: '1' }), () => client.verifyForecast('latest', { rpcUrl: 'http://127.0.0.1:1' })];
      for (const run of codes) console.log(await run().catch(({ code, suggestedAction }) => [code, suggestedAction].filter(Boolean).join(' ')));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder, encoding: 'utf8' });
    const needed = 'CONFIG_INVALID npm install viem';
    expect(stdout.trim().split('\n'), stderr).toEqual(['SERVICE_UNREACHABLE', needed, needed]);
  } finally {
    symlinkSync(join(ROOT, 'node_modules/viem'), viem);
  }
});

it('has no any in its declarations', () => {
  const files = globSync('lib/**/*.d.ts', { cwd: installed });
  expect(files.length).toBeGreaterThan(10);
  const tokens = files.flatMap((file) => [...jsTokens(readFileSync(join(installed, file), 'utf8'))].map(({ value }) => ({ file, value })));
  expect(tokens.filter(({ value }) => value === 'any')).toEqual([]);
});

it('bundles for browsers, and imports exactly what it declares', async () => {
  const { metafile } = await build({
    ...{ entryPoints: [join(folder, 'program.ts')], bundle: true, write: false, metafile: true, platform: 'browser', format: 'esm' },
    ...{ absWorkingDir: folder, logLevel: 'silent', preserveSymlinks: true, nodePaths: [join(ROOT, 'node_modules')] },
  });
  const own = Object.entries(metafile.inputs).filter(([path]) => path.includes('bitcoin-signal-oracle-client/'));
  const specifiers = own.flatMap(([, { imports }]) => imports.flatMap(({ original }) => original ?? []));
  const packages = specifiers.flatMap((specifier) => /^(?:@[^/]+\/)?[^./][^/]*/.exec(specifier) ?? []);
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect([...new Set(packages)].toSorted()).toEqual(Object.keys({ ...dependencies, ...peerDependencies }).toSorted());
});
