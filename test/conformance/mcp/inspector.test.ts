import { execFile } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../skills/index.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { loginToken } from '../../support/auth/login.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { MCP_BIN } from '../../support/mcp/mcp-stdio.ts';
import { youngService } from '../../support/service/full-service.ts';
import { type TestService, today } from '../../support/service/service.ts';

const INSPECTOR = resolve(import.meta.dirname, '../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const LOOPBACK_ONLY = pathToFileURL(resolve(import.meta.dirname, '../../support/network/loopback-only.ts')).href;

let service: TestService;
let server: Served;
let home: string;
let token: string;
/** A day whose forecasts are on chain, even if midnight passes during the test. */
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

interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

/** Output of the official inspector with a home of its own; a connection beyond this machine ends it. */
function inspect(words: string[]): Promise<Printed> {
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

/** Arguments of the inspector, with and without a token. */
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

const FULL = ['--tool-arg', 'form=full'];

const listed = (words: string[]) => inspect([...words, '--method', 'tools/list', '--strict']);
const called = (words: string[], tool: string, given: string[] = []) =>
  inspect([...words, '--method', 'tools/call', '--tool-name', tool, ...given]);

/** Startup dominates: two at a time, the cores of the smallest machine. */
async function inPairs<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let index = 0; index < all.length; index += 2) done.push(...(await Promise.all(all.slice(index, index + 2).map(work))));
  return done;
}

function expectTools({ code, stdout, stderr }: Printed): void {
  expect(code, stderr).toBe(0);
  // The report of --strict, which fails for errors only.
  expect(stderr).not.toMatch(/Warning|Issue:/);
  expect(JSON.parse(stdout).tools.map(({ name }: { name: string }) => name)).toEqual(SKILLS.map(({ id }) => id));
}

function expectAnswer({ id, output }: (typeof SKILLS)[number], { code, stdout, stderr }: Printed): void {
  expect(code, stderr).toBe(0);
  expect(output.strict().safeParse(JSON.parse(stdout).structuredContent).error, id).toBeUndefined();
}

describe('the inspector over Streamable HTTP', () => {
  const { anybody, holder } = WAYS['Streamable HTTP'];

  it('lists the tools without a compatibility finding, and shows the ways to the forecast without a token', async () => {
    const [list, gated, refused] = await Promise.all([
      listed(anybody()),
      called(anybody(), 'predict_btc_direction'),
      called(anybody(), 'predict_btc_direction', ['--tool-arg', 'access=pay']),
    ]);
    expectTools(list);
    expect(gated.code, gated.stderr).toBe(0);
    expect(JSON.parse(gated.stdout)).toMatchObject({
      structuredContent: { signal: 'GATED' },
      content: [{ text: expect.stringContaining('To see it: ') }, { text: expect.stringContaining('/api/svc/oracle/verify') }],
    });
    expect(refused.code).not.toBe(0);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('"x402Version":2') }, { text: expect.stringContaining('/api/svc/oracle/verify') }],
    });
  });

  it('calls each of them', async () => {
    const answers = await inPairs(SKILLS, ({ id }) => called(holder(), id, [...ARGUMENTS[id]!(), ...FULL]));
    for (const [index, skill] of SKILLS.entries()) expectAnswer(skill, answers[index]!);
  });
});

// stdio.test.ts compares the answers over stdio and HTTP.
it('the inspector over stdio lists the tools, and calls the gated one', async () => {
  const { anybody, holder } = WAYS.stdio;
  const [list, answer] = await Promise.all([listed(anybody()), called(holder(), 'predict_btc_direction', FULL)]);
  expectTools(list);
  expectAnswer(SKILLS.find(({ id }) => id === 'predict_btc_direction')!, answer);
});

it('writes only below its home', async () => {
  expect(await readdir(home)).toEqual(['.mcp-inspector']);
});
