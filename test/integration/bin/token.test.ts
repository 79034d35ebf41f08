import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeFolder } from '../../support/docs/folders.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { spawnNode, type TestService, testService } from '../../support/service/service.ts';

let service: TestService;
let server: Served;
beforeAll(async () => {
  service = await testService(0);
  server = await serve(service);
});
afterAll(async () => {
  await server.close();
  await service.stop();
});

/** `npm run -s token -- ...words` as a real process. */
const token = (words: string[], environment: Record<string, string> = {}) =>
  spawnNode(['bin/token.mjs', ...words], { DATA_DIR: service.dataDir, ...environment }).ended;

it.each(['basic', 'premium'])('prints the token of the %s wallet and nothing else', async (tier) => {
  const { code, output } = await token([tier, '--url', server.url]);
  expect(code, output).toBe(0);
  expect(output).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(await service.appOptions.identify(`Bearer ${output.trim()}`)).toMatchObject({ tier });
});

it('finds the service where the settings say that it listens', async () => {
  const { code, output } = await token(['basic'], { PORT: new URL(server.url).port });
  expect(code, output).toBe(0);
});

it('says in the words of the service why a wallet gets none', async () => {
  const { code, output } = await token(['poor', '--url', server.url]);
  expect(code).toBe(1);
  expect(output).toContain('TIER_REQUIRED: This requires the basic tier; the wallet has public');
});

it('says that no service runs, and what to do', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => free.once('listening', listening));
  const { port } = free.address() as { port: number };
  await new Promise((closed) => free.close(closed));
  const unanswered = await token(['basic', '--url', `http://127.0.0.1:${port}`]);
  expect(unanswered).toMatchObject({ code: 1, output: expect.stringContaining(`No service answers at http://127.0.0.1:${port}`) });
  const empty = await mkdtemp(join(tmpdir(), 'oracle-token-'));
  const unstarted = await token(['basic'], { DATA_DIR: empty });
  expect(unstarted).toMatchObject({ code: 1, output: expect.stringContaining('Run npm start first') });
  expect(unstarted.output).not.toContain('    at ');
  await removeFolder(empty);
});

it('explains itself', async () => {
  expect(await token(['--help'])).toMatchObject({ code: 0, output: expect.stringContaining('TOKEN=$(npm run -s token -- premium)') });
  expect(await token([])).toMatchObject({ code: 2 });
  expect(await token(['gold'])).toMatchObject({ code: 1, output: expect.stringContaining('must be one of basic, premium, poor, buyer') });
});
