import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { SKILLS } from '../../skills/index.ts';
import { PUBLICATION } from '../../src/tools/packages.ts';
import { loginToken } from '../support/auth/login.ts';
import { ROOT } from '../support/docs/documents.ts';
import { removeFolder } from '../support/docs/folders.ts';
import { type Served, serve } from '../support/http/serve.ts';
import { createStranger, findNodeFolder, type Stranger } from '../support/packages/stranger.ts';
import { demoOf } from '../support/service/cli.ts';
import { youngService } from '../support/service/full-service.ts';
import type { TestService } from '../support/service/service.ts';

const NODE = findNodeFolder(22);
const { version } = packageJson;
const inProject = (...words: string[]) => promisify(execFile)(process.execPath, words, { cwd: ROOT });

describe.skipIf(NODE === null)(
  `${PUBLICATION.npmName} in an empty folder${NODE === null ? ' (skipped: no Node 22 for this system)' : ''}`,
  () => {
    let built: string;
    let service: TestService;
    let server: Served;
    let stranger: Stranger;
    beforeAll(async () => {
      built = await mkdtemp(join(tmpdir(), 'oracle-built-'));
      await inProject('bin/dev/packages/build-svc.mjs', '--pack', join(built, 'svc'));
      service = await youngService();
      server = await serve(service);
      stranger = await createStranger(NODE!);
      const [tarball] = (await readdir(built)).filter((name) => name.endsWith('.tgz'));
      const installed = await stranger.run('npm', ['install', '--no-audit', '--no-fund', join(built, tarball!)]);
      expect(installed.code, installed.stderr).toBe(0);
    });
    afterAll(async () => {
      await server?.close();
      await service?.stop();
      for (const folder of [built, stranger?.folder]) if (folder !== undefined) await removeFolder(folder);
    });
    const svc = (...words: string[]) => stranger.run('npx', ['svc', ...words], { SERVICE_URL: server.url });

    it('runs on Node 22, and says its version', async () => {
      expect((await stranger.run('node', ['--version'])).stdout).toMatch(/^v22\./);
      expect(await svc('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    });

    it('asks a running service for signal and range', async () => {
      const [signal, range] = await Promise.all([svc('signal', '--json'), svc('range', '--json')]);
      expect(JSON.parse(signal.stdout)).toMatchObject({ horizon: '7d', signal: 'GATED' });
      expect(JSON.parse(range.stdout).horizons.map(({ horizon }: { horizon: string }) => horizon)).toEqual(['1d', '2d', '3d', '7d']);
    });

    it('verifies the newest forecast on chain', async () => {
      const { code, stdout, stderr } = await svc('verify', 'latest', '--rpc', (await demoOf(service)()).rpcUrl, '--json');
      expect(code, `${stdout}${stderr}`).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ verdict: 'verified', prediction: { horizon: '7d' }, differences: [] });
    });

    it.each([
      ['npx', ['bitcoin-signal-oracle-mcp']],
      ['npx', ['svc', 'mcp']],
    ])('serves MCP by %s %j with a token', async (program, words) => {
      const client = await stranger.openMcp(program, words, { ORACLE_URL: server.url, ORACLE_TOKEN: await loginToken(service, 'basic') });
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(SKILLS.map(({ id }) => id));
      for (const { id, examples } of SKILLS.filter(({ errors }) => !errors.includes('NOT_FOUND'))) {
        const { isError, structuredContent } = await client.callTool({ name: id, arguments: examples[0].input });
        expect([id, isError ?? false, typeof structuredContent]).toEqual([id, false, 'object']);
      }
      await client.close();
    });

    it('serves MCP with the key of a wallet', async () => {
      const { privateKey } = (await demoOf(service)()).wallets.premium!;
      const client = await stranger.openMcp('npx', ['svc', 'mcp'], { SERVICE_URL: server.url, PRIVATE_KEY: privateKey });
      const { structuredContent } = await client.callTool({ name: 'predict_btc_direction', arguments: { horizon: '7d' } });
      expect(structuredContent).toMatchObject({ horizon: '7d' });
      await client.close();
    });

    it('has checks that TypeScript accepts under --strict, and that run in Node and in a browser bundle', async () => {
      await writeFile(join(stranger.folder, 'package.json'), '{ "type": "module" }');
      await writeFile(join(stranger.folder, 'use.ts'), USE);
      const options = ['--strict', '--module', 'nodenext', '--target', 'es2024', '--types', '', '--outDir', 'out', 'use.ts'];
      const compiled = await stranger.run('node', [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options]);
      expect(compiled.code, compiled.stdout).toBe(0);
      expect(await stranger.run('node', ['out/use.js'])).toEqual({ code: 0, stdout: 'unknown 0 true\n', stderr: '' });
      const entryPoints = [join(stranger.folder, 'out/use.js')];
      const { outputFiles } = await build({ entryPoints, bundle: true, format: 'esm', platform: 'browser', minify: true, write: false });
      expect(outputFiles[0]!.text).not.toMatch(/\bnode:/);
    });

    it('names its entry of the MCP registry', async () => {
      const manifest = JSON.parse(await readFile(join(stranger.folder, 'node_modules', PUBLICATION.npmName, 'package.json'), 'utf8'));
      const { name, packages } = JSON.parse(await readFile(join(ROOT, 'deploy/directories/server.json'), 'utf8'));
      expect([manifest.mcpName, manifest.name, manifest.version]).toEqual([name, packages[0].identifier, packages[0].version]);
    });
  },
);

const USE = `
import { type AttestationEvidence, CATALOGUE, type CheckContext, checkRecord, createFindings, decodeRecord, getVerdict } from '${PUBLICATION.npmName}/verify';

const evidence: AttestationEvidence[] = [];
const context: CheckContext = { attester: '0x${'1'.repeat(40)}', now: new Date() };
const findings = createFindings();
const record = decodeRecord(evidence, context, findings);
const { rows } = checkRecord({ record, prices: null, history: null, claims: null, now: context.now }, findings);
console.log(getVerdict(findings.list), rows.length, CATALOGUE.every(({ rule }) => rule.length > 0));
`;
