import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../../skills/index.ts';
import { formatDay } from '../../../../src/forecast/day.ts';
import { asTier, loginToken } from '../../../support/auth/login.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { MCP_BIN, openStdio, SVC_BIN } from '../../../support/mcp/mcp-stdio.ts';
import { cli, demoOf } from '../../../support/service/cli.ts';
import { youngService } from '../../../support/service/full-service.ts';
import { type TestService, today } from '../../../support/service/service.ts';

const TIERS = ['public', 'basic', 'premium'] as const;

let service: TestService;
let server: Served;
let elsewhere: string;
/** A day whose forecasts are on chain, even if midnight passes during the test. */
let committedOn: string;
beforeAll(async () => {
  committedOn = formatDay(today() - 1);
  service = await youngService();
  server = await serve(service);
  elsewhere = await mkdtemp(join(tmpdir(), 'oracle-elsewhere-'));
});
afterAll(async () => {
  await server.close();
  await service.stop();
  await removeFolder(elsewhere);
});

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
type Answer = any;
interface Session {
  client: {
    callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
    readResource(resource: { uri: string }): Promise<Answer>;
    close(): Promise<void>;
  };
}

async function tokenOf(tier: (typeof TIERS)[number]): Promise<Record<string, string>> {
  return { ORACLE_URL: server.url, ...(tier === 'public' ? {} : { ORACLE_TOKEN: await loginToken(service, tier) }) };
}

/** The current client and the client of SDK 1. */
const CLIENTS = {
  '@modelcontextprotocol/client': async (environment: Record<string, string>): Promise<Session> =>
    openStdio({ environment, cwd: elsewhere }),
  '@modelcontextprotocol/sdk': async (environment: Record<string, string>): Promise<Session> => {
    const client = new OldClient({ name: 'tests', version: '1.0.0' });
    await client.connect(new OldStdio({ command: process.execPath, args: [MCP_BIN], env: environment, cwd: elsewhere, stderr: 'ignore' }));
    return { client };
  },
};

async function overHttp(tier: (typeof TIERS)[number]): Promise<Session> {
  const client = new Client({ name: 'tests', version: '1.0.0' });
  const requestInit = { headers: await asTier(service, tier) };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}${ENDPOINTS.mcp}`), { requestInit }));
  return { client };
}

const forecastDay = () => committedOn;
const CALLS: [string, () => Record<string, unknown>][] = [
  ['predict_btc_direction', () => ({ horizon: '3d', form: 'full' })],
  ['predict_btc_direction', () => ({})],
  ['predict_btc_direction', () => ({ horizon: '9d' })],
  ['verify_prediction', () => ({ date: forecastDay(), form: 'full' })],
  ['verify_prediction', () => ({ date: forecastDay() })],
  ['verify_prediction', () => ({ date: '2001-01-01' })],
  ['verify_prediction', () => ({ date: forecastDay(), uid: 'moon' })],
  ['get_track_record', () => ({ horizon: '2d', pageSize: 2, form: 'full' })],
  ['get_track_record', () => ({})],
  ['get_track_record', () => ({ form: 'some' })],
  ['get_track_record', () => ({ from: '2026-02-30' })],
  ['get_market_context', () => ({ include: ['regime'] })],
];

/** The older client meets the same server, so one tier is enough. */
const MEETINGS: [keyof typeof CLIENTS, (typeof TIERS)[number]][] = [
  ...TIERS.map((tier): [keyof typeof CLIENTS, typeof tier] => ['@modelcontextprotocol/client', tier]),
  ['@modelcontextprotocol/sdk', 'basic'],
];

/** Removes fields that change between two calls. The ways to a forecast depend on the transport. */
function comparable({ isError, structuredContent, _meta }: Answer) {
  const received = _meta?.['bitcoin-signal-oracle/error'];
  return isError === true ? received : withoutMoving(structuredContent);
}

function withoutMoving(value: Answer): Answer {
  if (Array.isArray(value)) return value.map(withoutMoving);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([name]) => !['asOf', 'ageSeconds', 'timestamp', 'blockNumber', 'ways'].includes(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutMoving(inner)]));
}

describe('over stdio', () => {
  it.each(MEETINGS)('%s gets for %s the same as over HTTP, including errors and field order', async (library, tier) => {
    const [stdio, http] = await Promise.all([CLIENTS[library](await tokenOf(tier)), overHttp(tier)]);
    for (const uri of ['oracle://signal/7d', 'ui://bitcoin-signal-oracle/forecast'])
      expect(await stdio.client.readResource({ uri })).toMatchObject({ contents: (await http.client.readResource({ uri })).contents });
    for (const [name, input] of CALLS) {
      const call = { name, arguments: input() };
      const [nearby, remote] = (await Promise.all([stdio.client.callTool(call), http.client.callTool(call)])) as Answer[];
      expect(JSON.stringify(comparable(nearby)), `${name} ${JSON.stringify(call.arguments)}`).toBe(JSON.stringify(comparable(remote)));
      if (nearby.isError !== true && call.arguments.form === 'full' && nearby.structuredContent.signal !== 'GATED') {
        const { output } = SKILLS.find(({ id }) => id === name)!;
        expect(output.strict().safeParse(nearby.structuredContent).error).toBeUndefined();
      }
    }
    await Promise.all([stdio.client.close(), http.client.close()]);
  });

  it('lists tools, resources and prompts without fixtures, opens the signal with a token, and explains how to get one', async () => {
    const [anybody, holder] = await Promise.all([
      openStdio({ environment: await tokenOf('public') }),
      openStdio({ environment: await tokenOf('basic') }),
    ]);
    const { tools } = await anybody.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(SKILLS.map(({ id }) => id));
    const signalFor = async ({ client }: typeof anybody) => {
      const { contents } = await client.readResource({ uri: 'oracle://signal/7d' });
      return JSON.parse((contents[0] as { text: string }).text);
    };
    expect(await signalFor(anybody)).toMatchObject({ signal: 'GATED', direction: null, confidence: null });
    expect((await signalFor(holder)).signal).toMatch(/^(BUY|SELL|HOLD)$/);
    const { contents } = await anybody.client.readResource({ uri: 'oracle://methodology' });
    const skill: Answer = await anybody.client.readResource({ uri: 'skill://bitcoin-signal-oracle/SKILL.md' });
    expect(skill.contents[0].text).toMatch(/^---\nname: bitcoin-signal-oracle\n[\s\S]*## Skills/);
    expect(skill.contents[0].text).toContain(`${server.url}${ENDPOINTS.mcp}`);
    expect((contents[0] as { text: string }).text).toContain(server.url);
    expect((await anybody.client.listPrompts()).prompts.length).toBeGreaterThan(0);
    const { isError, content } = (await anybody.client.callTool({ name: 'predict_btc_direction', arguments: {} })) as Answer;
    expect(isError).toBeUndefined();
    for (const word of [`POST ${server.url}/api/svc/oracle/verify`, 'ORACLE_TOKEN', `x402 at GET ${server.url}/oracle`])
      expect(content[1].text).toContain(word);
    expect(content[1].text).not.toContain('header');
    await Promise.all([anybody.client.close(), holder.client.close()]);
  });

  it('logs a demonstration wallet in', async () => {
    const { client } = await openStdio({
      words: ['--url', server.url, '--wallet', 'basic'],
      environment: { DATA_DIR: service.dataDir },
      cwd: elsewhere,
    });
    const answer = (await client.callTool({ name: 'predict_btc_direction', arguments: {} })) as Answer;
    expect(answer.structuredContent, answer.content[0].text).toMatchObject({ horizon: '7d' });
    await client.close();
  });

  it('returns a retryable error with the address when the service is down', async () => {
    const { client } = await openStdio({ environment: { ORACLE_URL: `http://127.0.0.1:${await unusedPort()}` } });
    const refused = (await client.callTool({ name: 'get_market_context', arguments: {} })) as Answer;
    expect(refused.isError).toBe(true);
    expect(comparable(refused)).toMatchObject({ code: 'SERVICE_UNREACHABLE', retryable: true });
    expect(refused.content[0].text).toMatch(/The service at http:\/\/127\.0\.0\.1:\d+ does not answer/);
    await client.close();
  });

  it('keeps a rejected token out of errors and standard error', async () => {
    const token = 'eyJhbGciOiJub25lIn0.very-secret.token';
    const session = await openStdio({ environment: { ORACLE_URL: server.url, ORACLE_TOKEN: token, LOG_LEVEL: 'trace' } });
    const gated = (await session.client.callTool({ name: 'predict_btc_direction', arguments: {} })) as Answer;
    expect(gated.structuredContent).toMatchObject({ signal: 'GATED' });
    expect(JSON.stringify(gated)).not.toContain('very-secret');
    await session.client.close();
    expect(session.stderr()).not.toContain('very-secret');
  });
});

async function unusedPort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => listener.once('listening', listening));
  const { port } = listener.address() as { port: number };
  await new Promise((closed) => listener.close(closed));
  return port;
}

describe('svc mcp', () => {
  const relay = async (environment: Record<string, string>, mode: 'auto' | 'legacy') =>
    openStdio({ bin: SVC_BIN, words: ['mcp'], environment: { HOME: elsewhere, ...environment }, cwd: elsewhere, mode });

  it.each([
    ['auto', 'basic', '2026-07-28'],
    ['legacy', 'public', '2025-11-25'],
  ] as const)('relays what the service answers to a client that negotiates %s, as %s', async (mode, tier, revision) => {
    const [{ client }, http] = await Promise.all([relay(await tokenOf(tier), mode), overHttp(tier)]);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getInstructions()).toMatch(/no skill that can be distinguished from luck[\s\S]*ORACLE_TOKEN/);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(SKILLS.map(({ id }) => id));
    const signal = { uri: 'oracle://signal/7d' };
    expect(await client.readResource(signal)).toMatchObject({ contents: (await http.client.readResource(signal)).contents });
    for (const [name, input] of CALLS) {
      const call = { name, arguments: input() };
      const [nearby, remote] = (await Promise.all([client.callTool(call), http.client.callTool(call)])) as Answer[];
      expect(comparable(nearby), `${name} ${JSON.stringify(call.arguments)}`).toEqual(comparable(remote));
    }
    await expect(client.readResource({ uri: 'oracle://day/täglich' })).rejects.toThrow('Resource not found: oracle://day/täglich');
    await Promise.all([client.close(), http.client.close()]);
  });

  it('logs the wallet of PRIVATE_KEY in once for calls at the same time', async () => {
    const { privateKey } = (await demoOf(service)()).wallets.basic!;
    const session = await relay({ SERVICE_URL: `${server.url}/mcp`, PRIVATE_KEY: privateKey }, 'auto');
    const call = { name: 'predict_btc_direction', arguments: {} };
    const answers = (await Promise.all([session.client.callTool(call), session.client.callTool(call)])) as Answer[];
    for (const { structuredContent, content } of answers) expect(structuredContent, content[0].text).toMatchObject({ horizon: '7d' });
    await session.client.close();
    expect(session.stderr()).toBe('');
  });

  it('refuses to start with a malformed token, which it does not repeat', async () => {
    const words = { ...{ input: new PassThrough() }, environment: { ORACLE_TOKEN: 'Bearer very-secret', ORACLE_URL: server.url } };
    expect(await cli(['mcp'], words)).toEqual({ code: 2, out: '', err: expect.not.stringContaining('very-secret') });
  });
});

describe('lines that are not messages', () => {
  it('get protocol errors, and standard output has nothing else', async () => {
    const child = spawn(process.execPath, [MCP_BIN], {
      env: { ...process.env, ORACLE_URL: server.url },
      cwd: elsewhere,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const ended = new Promise((done) => child.once('close', done));
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'by hand', version: '1' } };
    const lines = [
      'hello',
      '',
      '[]',
      '{"jsonrpc":"2.0","id":7,"method":5}',
      `{"jsonrpc":"2.0","id":8,"method":"${'x'.repeat(70_000)}"}`,
      JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'initialize', params: initialize }),
    ];
    child.stdin.write(`${lines.join('\n')}\n`);
    const expected = [
      { id: null, error: { code: -32_700 } },
      { id: null, error: { code: -32_600 } },
      { id: 7, error: { code: -32_600 } },
      { id: null, error: { code: -32_600 } },
      { id: 9, result: { serverInfo: { name: 'bitcoin-signal-oracle' } } },
    ];
    for (const answer of expected) expect(JSON.parse((await answers.next()).value ?? 'null')).toMatchObject({ jsonrpc: '2.0', ...answer });
    child.stdin.end();
    expect(await ended).toBe(0);
    expect(await answers.next()).toMatchObject({ done: true });
  });
});
