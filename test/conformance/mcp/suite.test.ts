import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { type TestService, testService } from '../../support/service/service.ts';
import { runSuite, summaryOf } from './suite.ts';

const BASELINE = resolve(import.meta.dirname, 'expected-failures.yaml');

let service: TestService;
let server: Served;
let folder: string;
beforeAll(async () => {
  service = await testService(0, { PROTOCOL_FIXTURES: 'test/support/protocols/fixtures.ts' });
  server = await serve(service);
  folder = await mkdtemp(join(tmpdir(), 'oracle-conformance-'));
});
afterAll(async () => {
  await server.close();
  await service.stop();
  await removeFolder(folder);
});

const run = (baseline: string, words: string[] = []) =>
  runSuite('2025-11-25', ['--url', `${server.url}${ENDPOINTS.mcp}`, '--expected-failures', baseline, ...words], folder);

it('passes the official suite for revisions up to 2025-11-25, except for the expected failures', async () => {
  const suite = await run(BASELINE, ['--suite', 'all']);
  expect(suite.code, suite.output).toBe(0);
  expect(summaryOf(suite)).toContain('Total: 28 passed, 6 failed');
});

it('detects an unexpected pass and an unexpected failure', async () => {
  const baseline = join(folder, 'baseline.yaml');
  await writeFile(baseline, 'server:\n  - ping\n');
  expect(await run(baseline, ['--scenario', 'ping'])).toMatchObject({ code: 1 });
  expect(await run(baseline, ['--scenario', 'resources-subscribe'])).toMatchObject({ code: 1 });
});
