import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseDemoFile } from '../../../src/dev/demo.ts';
import { signedLogin } from '../../support/auth/login.ts';
import { linkEngineCache } from '../../support/database/engine.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { type Flood, type FloodCall, send } from '../../support/faults/flood-callers.ts';
import { MCP_HEADERS, rpc } from '../../support/mcp/mcp.ts';
import { type RunningService, startService } from '../../support/service/running-service.ts';

const CALLERS = 300;
const MAX_HOLDER_MS = 1_000;
const MAX_GROWTH_MB = 100;
const SAMPLE_MS = 50;
/** The heap that a small machine gives, and the limits of a service that is started without settings. */
const ENVIRONMENT = {
  NODE_OPTIONS: '--max-old-space-size=384',
  LOG_LEVEL: 'warn',
  RATE_LIMIT_PUBLIC: '60',
  // As many as the token holder can send in a minute, one after the other.
  RATE_LIMIT_WALLET: '100000',
  RATE_LIMIT_RPC: '10',
  RATE_LIMIT_TASKS: '300',
};

const A2A_HEADERS = { 'A2A-Version': '1.0', 'Content-Type': 'application/json' };
const RECORD = { name: 'get_track_record', arguments: { pageSize: 50, form: 'full' } };
const MESSAGE = { messageId: 'flood-{n}', role: 'ROLE_USER', parts: [{ data: { skill: RECORD.name, input: { pageSize: 50 } } }] };

const post = (path: string, body: unknown, headers = { 'Content-Type': 'application/json' }): FloodCall => ({
  path,
  method: 'POST',
  headers,
  body: JSON.stringify(body),
});
const a2a = (method: string) => post('/a2a', { jsonrpc: '2.0', id: 1, method, params: { message: MESSAGE } }, A2A_HEADERS);
const tools = (count: number) => Array.from({ length: count }, (_, id) => ({ ...rpc('tools/call', RECORD), id }));
const blocks = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_getBlockByNumber', params: ['latest', true] }));

/** What an anonymous caller may ask over each transport. */
const TRANSPORTS: Record<string, FloodCall> = {
  'a REST read': { path: '/api/svc/scorecard?limit=1000&cache={n}' },
  'a REST skill': post('/api/svc/skills/get_track_record', { pageSize: 50 }),
  'an MCP tool': post('/mcp', tools(1)[0], MCP_HEADERS),
  'an MCP batch': post('/mcp', tools(20), MCP_HEADERS),
  'A2A over JSON-RPC': a2a('SendMessage'),
  'an A2A stream': a2a('SendStreamingMessage'),
  'A2A over REST': post('/a2a/rest/message:send', { message: MESSAGE }, A2A_HEADERS),
  'chain reads': post('/rpc', blocks(30)),
  'terms of a payment': { path: '/oracle/premium' },
  'a rejected token': { path: '/api/svc/oracle', headers: { Authorization: 'Bearer ey.nonsense.{n}' } },
  'the page': { path: '/?cache={n}', headers: { Accept: 'text/html' } },
};

let service: RunningService;
let dataDir: string;
let token: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'oracle-flood-'));
  await linkEngineCache(dataDir);
  service = await startService({ ...ENVIRONMENT, DATA_DIR: dataDir });
  const { wallets } = parseDemoFile(JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')));
  const login = await signedLogin(privateKeyToAccount(wallets.premium!.privateKey), Date.now());
  token = JSON.parse((await send(service.url, post('/api/svc/oracle/verify', login), new Agent())).text).token;
});
afterAll(async () => {
  service?.child.kill('SIGTERM');
  await service?.ended;
  await removeFolder(dataDir);
});

it.each(Object.entries(TRANSPORTS).map(([name, call], index) => [name, call, 1 + index] as const))(
  'at 300 anonymous callers of %s a token holder is answered within a second',
  async (_, call, network) => {
    // Code that first requests load is no work of the flood.
    await startFlood({ url: service.url, call, callers: 20, network: 100 + network, callsEach: 2 });
    await untilAtRest();
    const before = await readResidentMb();
    let peakMb = before;
    const sampling = setInterval(async () => {
      peakMb = Math.max(peakMb, await readResidentMb());
    }, SAMPLE_MS);
    let isOver = false;
    const flood = startFlood({ url: service.url, call, callers: CALLERS, network, callsEach: 2 }).finally(() => {
      isOver = true;
    });
    const holderMs: number[] = [];
    while (!isOver) holderMs.push(...(await callAsHolder(1)));
    const counts = await flood;
    clearInterval(sampling);
    const growthMb = Math.round(peakMb - before);
    const slowestMs = Math.round(Math.max(...holderMs));
    console.log(JSON.stringify({ calls: holderMs.length, slowestMs, growthMb, counts }));
    expect(slowestMs).toBeLessThan(MAX_HOLDER_MS);
    expect(growthMb).toBeLessThan(MAX_GROWTH_MB);
    expect(counts).not.toHaveProperty('0');
  },
);

async function startFlood(flood: Flood): Promise<Record<string, number>> {
  const child = fork(resolve(import.meta.dirname, '../../support/faults/flood-callers.ts'));
  child.send(flood);
  const [counts] = await once(child, 'message');
  return counts;
}

async function callAsHolder(calls: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  for (let call = 0; call < calls; call++) {
    const startedMs = performance.now();
    const { status } = await send(service.url, { path: '/api/svc/oracle', headers: { Authorization: `Bearer ${token}` } }, agent);
    times.push(performance.now() - startedMs);
    expect(status).toBe(200);
  }
  agent.destroy();
  return times;
}

/** Until work of the start, or of the flood before, is over: a token holder is answered at once. */
async function untilAtRest(): Promise<void> {
  for (let quick = 0; quick < 5; ) {
    const [ms] = await callAsHolder(1);
    quick = ms! < 100 ? quick + 1 : 0;
    await delay(200);
  }
}

/** Of the process that answers, without its database and chain. */
async function readResidentMb(): Promise<number> {
  const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_000;
}
