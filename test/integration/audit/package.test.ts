import { execFile, spawnSync } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { formatDay } from '../../../src/forecast/day.ts';
import { buildMcpb, PUBLICATION } from '../../../src/tools/packages.ts';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import {
  AUDITED_DAYS,
  AUDITED_HORIZONS,
  closeUsd,
  registerSchemas,
  type WrittenRecord,
  writeRecord,
} from '../../support/record/audit-record.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PACKAGE = `node_modules/${PUBLICATION.npmName}`;

let folder: string;
let chain: TestChain;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oracle-audit-package-'));
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  // As npm would install what the package names, without asking for it.
  for (const name of ['canonicalize', 'commander', 'viem', 'ws', 'zod'])
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  const [started, built] = await Promise.all([
    // A record ends about now, by the clock of the program.
    testChain({ genesisTimestamp: Math.floor(Date.now() / 1000) - (AUDITED_DAYS + 2) * 86_400 }),
    run(join(ROOT, 'bin/dev/packages/build-svc.mjs'), join(folder, PACKAGE)),
  ]);
  chain = started;
  expect(built.code, `${built.stdout}${built.stderr}`).toBe(0);
  await registerSchemas(chain);
});
let restore: () => Promise<void>;
beforeEach(async () => {
  restore = await chain.snapshot();
});
afterEach(() => restore());
afterAll(async () => {
  await chain.stop();
  await removeFolder(folder);
});

async function run(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, words, { cwd: folder })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

const PROGRAM = `${PACKAGE}/svc.mjs`;

async function auditOf({ attester, firstDay }: WrittenRecord) {
  const days = Array.from({ length: AUDITED_DAYS }, (_, index) => firstDay + index);
  await writeFile(join(folder, 'closes.csv'), ['date,close', ...days.map((day) => `${formatDay(day)},${closeUsd(day)}`)].join('\n'));
  return run(PROGRAM, 'audit', '--rpc', chain.rpcUrl, '--attester', attester, '--prices', 'closes.csv', '--tolerance-bps', '0');
}

it('the package audits a chain on its own and exits with 0 or 1', async () => {
  const honest = await auditOf(await writeRecord(chain));
  expect(honest.stdout, honest.stderr).toMatch(/AGREES: [\d,]+ checks agree\./);
  expect(honest.code).toBe(0);
  const tampered = await auditOf(
    await writeRecord(chain, { prediction: (item) => (item.sequence === 3 && item.horizonDays === 3 ? [] : [item]) }),
  );
  expect(tampered.stdout).toMatch(/\[sequence\] .*sequence 3 is missing on chain[\s\S]*DIFFERS: 1 of [\d,]+ checks FAIL \(sequence\)/);
  expect(tampered.code).toBe(1);
});

it('the package has no undeclared dependencies, and the files that it names', async () => {
  const manifest = JSON.parse(await readFile(join(folder, PACKAGE, 'package.json'), 'utf8'));
  expect(Object.keys(manifest.dependencies)).toEqual(['canonicalize', 'commander', 'viem', 'zod']);
  expect(manifest).toMatchObject({ name: PUBLICATION.npmName, mcpName: PUBLICATION.mcpName });
  const entries = Object.values<{ types: string; default: string }>(manifest.exports).flatMap((entry) => Object.values(entry));
  for (const path of [...entries, ...Object.values<string>(manifest.bin)])
    await expect(access(join(folder, PACKAGE, path)), path).resolves.toBeUndefined();
  expect((await readdir(join(folder, PACKAGE))).toSorted()).toEqual(
    ['AUDIT.md', 'LICENSE', 'README.md', 'lib', 'mcp.mjs', 'package.json', 'svc.mjs', 'verify.d.mts', 'verify.mjs'].toSorted(),
  );
});

it.each(['mcp.mjs', 'svc.mjs mcp'])('%s serves MCP without a database and without a chain', (line) => {
  const [program, ...words] = line.split(' ');
  const input = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n';
  const env = { PATH: process.env.PATH, ORACLE_URL: 'http://127.0.0.1:9' };
  const { status, stdout } = spawnSync(process.execPath, [join(folder, PACKAGE, program!), ...words], { input, env, encoding: 'utf8' });
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { data: { code: 'SERVICE_UNREACHABLE', retryable: true } } });
  expect(status).toBe(0);
});

it('the MCP bundle starts as its manifest says, and needs no packages', async () => {
  await buildMcpb(join(folder, 'bundle'));
  const { server, icon } = JSON.parse(await readFile(join(folder, 'bundle/manifest.json'), 'utf8'));
  const args = server.mcp_config.args.map((word: string) => word.replace(/^\$\{__dirname\}/, join(folder, 'bundle')));
  expect(args).toEqual([join(folder, 'bundle', server.entry_point)]);
  expect((await readFile(join(folder, 'bundle', icon))).subarray(1, 4).toString()).toBe('PNG');
  const input = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n';
  const env = { ORACLE_URL: 'http://127.0.0.1:9', ORACLE_TOKEN: '', PRIVATE_KEY: '' };
  const { status, stdout } = spawnSync(process.execPath, args, { input, env, encoding: 'utf8' });
  expect([status, JSON.parse(stdout).error.data.code]).toEqual([0, 'SERVICE_UNREACHABLE']);
});

it('checks one forecast by chain and wallet alone', async () => {
  const { attester, firstDay } = await writeRecord(chain);
  const words = ['--rpc', chain.rpcUrl, '--attester', attester, '--json'];
  const { code, stdout, stderr } = await run(PROGRAM, 'verify', `${formatDay(firstDay + 1)}:3d`, ...words);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ prediction: { sequence: 2, horizon: '3d' }, where: { takenFromService: [] } });
});

it('exits with 2 naming a missing option', async () => {
  expect(await run(PROGRAM, 'audit')).toMatchObject({ code: 2, stderr: expect.stringContaining('--rpc: is required') });
  expect(await run(PROGRAM, 'login', '--wallet', 'basic')).toMatchObject({ code: 2, stderr: expect.stringContaining('Use PRIVATE_KEY') });
});

it('exits with 2 on an outdated Node', async () => {
  const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } })";
  expect(await run('--import', `data:text/javascript,${encodeURIComponent(old)}`, PROGRAM, '--help')).toMatchObject({
    ...{ code: 2, stdout: '', stderr: expect.stringContaining('needs Node 22 or later; this is 20.11.0') },
  });
});

it('works as a library', async () => {
  const { attester, now } = await writeRecord(chain);
  const script = `
    import { audit } from '${PUBLICATION.npmName}/audit';
    import { openAuditChain } from '${PUBLICATION.npmName}/chain';
    import { csvPrices } from '${PUBLICATION.npmName}/csv-prices';
    const chain = await openAuditChain({ rpcUrl: '${chain.rpcUrl}' });
    const prices = await csvPrices('closes.csv', 100);
    const { verdict, horizons } = await audit({ chain, attester: '${attester}', prices, claims: null, now: new Date('${now.toISOString()}') });
    console.log(verdict, horizons.length);`;
  await writeFile(join(folder, 'use.mjs'), script);
  // The closes are those of another record: all that can be said is that prices are missing.
  expect(await run('use.mjs')).toMatchObject({ code: 0, stdout: `incomplete ${AUDITED_HORIZONS.length}\n` });
});

it('has the checks as a library', async () => {
  const script = `
    import { CATALOGUE, checkRecord, createFindings, decodeRecord, getVerdict } from '${PUBLICATION.npmName}/verify';
    const context = { attester: '0x${'1'.repeat(40)}', now: new Date() };
    const findings = createFindings();
    const record = decodeRecord([], context, findings);
    checkRecord({ record, prices: null, history: null, claims: null, now: context.now }, findings);
    console.log(CATALOGUE.length > 20, getVerdict(findings.list));`;
  await writeFile(join(folder, 'check.mjs'), script);
  expect(await run('check.mjs')).toMatchObject({ code: 0, stdout: 'true unknown\n' });
});

it.each(['README.md', 'AUDIT.md'])('%s of the package links to packaged files only', async (name) => {
  const here = join(folder, PACKAGE);
  const links = [...(await readFile(join(here, name), 'utf8')).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path);
  expect(links.length).toBeGreaterThan(0);
  for (const path of links) await expect(access(join(here, path)), path).resolves.toBeUndefined();
});
