import { execFile } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../skills/index.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { removeFolder } from '../../support/folders.ts';
import { youngService } from '../../support/full-service.ts';
import { loginToken } from '../../support/login.ts';
import { MCP_BIN } from '../../support/mcp-stdio.ts';
import { type Served, serve } from '../../support/serve.ts';
import { type TestService, today } from '../../support/service.ts';

const INSPECTOR = resolve(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const LOOPBACK_ONLY = pathToFileURL(resolve(import.meta.dirname, '../../support/loopback-only.ts')).href;

let service: TestService;
let server: Served;
let home: string;
let token: string;
/** A day whose forecasts are on chain, also when midnight passes meanwhile. */
let committedOn: string;
beforeAll(async () => {
  committedOn = formatDay(today() - 1);
  service = await youngService();
  server = await serve(service);
  home = await mkdtemp(join(tmpdir(), 'oracle-inspector-'));
  token = await loginToken(service, 'premium');
});
afterAll(async () => {
  await server.close();
  await service.stop();
  await removeFolder(home);
});

/** What the official inspector prints, in a home and a world of its own: a connection beyond this machine ends it. */
function inspect(words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH ?? '', HOME: home, NODE_OPTIONS: `--import=${LOOPBACK_ONLY}`, BROWSER: 'false' };
  return new Promise((done) => {
    execFile(
      process.execPath,
      [INSPECTOR, '--cli', ...words, '--connect-timeout', '50000'],
      { cwd: home, env, maxBuffer: 2 ** 24 },
      (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
}

/** How the inspector reaches the server, with a token and without. */
const WAYS = {
  'Streamable HTTP': {
    anybody: () => [`${server.url}${ENDPOINTS.mcp}`],
    holder: () => [`${server.url}${ENDPOINTS.mcp}`, '--header', `Authorization: Bearer ${token}`],
  },
  stdio: {
    anybody: () => [process.execPath, MCP_BIN, '-e', `ORACLE_URL=${server.url}`],
    holder: () => [process.execPath, MCP_BIN, '-e', `ORACLE_URL=${server.url}`, '-e', `ORACLE_TOKEN=${token}`],
  },
};

const ARGUMENTS: Record<string, () => string[]> = {
  predict_btc_direction: () => ['--tool-arg', 'horizon=3d'],
  verify_prediction: () => ['--tool-arg', `date=${committedOn}`],
  get_track_record: () => ['--tool-arg', 'horizon=2d'],
  get_market_context: () => [],
};

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('the inspector over %s', (way) => {
  const { anybody, holder } = WAYS[way];

  it('lists the tools, and finds nothing about them that other clients could not read', async () => {
    const { code, stdout, stderr } = await inspect([...anybody(), '--method', 'tools/list', '--strict']);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout).tools.map(({ name }: { name: string }) => name)).toEqual(SKILLS.map(({ id }) => id));
  });

  it('calls each of them', async () => {
    for (const { id, output } of SKILLS) {
      const { code, stdout, stderr } = await inspect([...holder(), '--method', 'tools/call', '--tool-name', id, ...ARGUMENTS[id]!()]);
      expect(code, stderr).toBe(0);
      expect(output.strict().safeParse(JSON.parse(stdout).structuredContent).error, id).toBeUndefined();
    }
  }, 120_000);

  it('shows what to do where a token is missing', async () => {
    const { code, stdout } = await inspect([...anybody(), '--method', 'tools/call', '--tool-name', 'predict_btc_direction']);
    expect(code).not.toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('/api/svc/oracle/verify') }] });
  });
});

it('wrote nothing but below its home', async () => {
  expect(await readdir(home)).toEqual(['.mcp-inspector']);
});
