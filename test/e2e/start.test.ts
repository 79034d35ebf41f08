import { once } from 'node:events';
import { mkdtemp, readFile, truncate } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, erc20Abi, http, parseAbi } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stepInstant } from '../../src/pipeline/times.ts';
import { removeFolder } from '../support/folders.ts';
import { type RunningService, startService } from '../support/running-service.ts';
import { spawnNode, today } from '../support/service.ts';

const DAYS = 12;
/** Days in the record of a first start: those replayed, and from 21:35 UTC on today's. */
const recordedDays = () => (Date.now() < stepInstant('signal', today()) ? DAYS : DAYS + 1);
let dataDir: string;
let running: RunningService | undefined;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'oracle-e2e-'));
});
afterEach(async () => {
  running?.child.kill('SIGTERM');
  await running?.ended;
  running = undefined;
  await removeFolder(dataDir);
});

const environment = (more: Record<string, string> = {}) => ({ DATA_DIR: dataDir, REPLAY_DAYS: String(DAYS), ...more });

async function start(more: Record<string, string> = {}): Promise<RunningService> {
  running = await startService(environment(more));
  return running;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function get(path: string): Promise<any> {
  const response = await fetch(`${running!.url}${path}`);
  expect(response.status, path).toBe(200);
  return response.json();
}

async function stop(signal: 'SIGINT' | 'SIGTERM'): Promise<number> {
  const began = performance.now();
  running!.child.kill(signal);
  expect(await running!.ended).toMatchObject({ code: 0 });
  return performance.now() - began;
}

async function refused(more: Record<string, string>): Promise<string> {
  const { code, output } = await spawnNode(['bin/start.mjs'], environment({ PORT: '0', FEEDS: 'simulated', ...more })).ended;
  expect(code, output).toBe(1);
  return output;
}

describe('a first start', () => {
  it('shows a record that verifies on the chain, stops on Ctrl-C, and the second start continues it', async () => {
    const { output } = await start();
    expect(output()).toContain('Market data: simulated');
    expect(output()).toContain('Replaying');
    for (const line of output().matchAll(/curl "?(http:[^\s"]+)/g)) expect((await fetch(line[1])).status, line[1]).toBe(200);

    const scorecard = await get('/api/svc/scorecard?horizon=7');
    expect(scorecard.predictions).toHaveLength(recordedDays());
    const { data } = await get('/api/svc/onchain-oracle/history?limit=100');
    for (const { uid } of data) expect((await get(`/api/svc/onchain-oracle/verify/${uid}`)).verified).toBe(true);
    const identity = await get('/api/svc/agent/identity');
    expect(identity.registered).toBe(true);
    expect(await stop('SIGINT')).toBeLessThan(10_000);

    const second = await start();
    expect(second.output()).not.toContain('Replaying [');
    expect(await get('/api/svc/scorecard?horizon=7')).toEqual(scorecard);
    expect((await get('/api/svc/onchain-oracle/history?limit=100')).data).toEqual(data);
    expect((await get('/api/svc/agent/identity')).agentId).toBe(identity.agentId);
    expect((await get(`/api/svc/onchain-oracle/verify/${data[0].uid}`)).verified).toBe(true);
    expect(await stop('SIGTERM')).toBeLessThan(10_000);
  });

  it('leaves wallets and contracts for a visitor, who can read the chain himself', async () => {
    await start();
    const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'));
    const client = createPublicClient({ transport: http(demo.rpcUrl) });
    expect(await client.getChainId()).toBe(8453);
    const balance = (name: string, token: string) =>
      client.readContract({ address: demo.contracts[token], abi: erc20Abi, functionName: 'balanceOf', args: [demo.wallets[name].address] });
    expect(await balance('basic', 'gateToken')).toBe(500_000_000n * 10n ** 18n);
    expect(await balance('premium', 'gateToken')).toBe(1_000_000_000n * 10n ** 18n);
    expect(await balance('poor', 'gateToken')).toBe(0n);
    expect(await balance('buyer', 'stablecoin')).toBeGreaterThan(0n);
    expect(demo.contracts.stablecoin).not.toBe('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913');

    const { data } = await get('/api/svc/onchain-oracle/latest');
    const abi = parseAbi(['function isAttestationValid(bytes32 uid) view returns (bool)']);
    expect(await client.readContract({ address: demo.contracts.eas, abi, functionName: 'isAttestationValid', args: [data.uid] })).toBe(
      true,
    );
  });

  it('that is killed in mid-replay is continued by the next one, with nothing twice', async () => {
    const first = spawnNode(['bin/start.mjs'], environment({ PORT: '0', FEEDS: 'simulated' }));
    first.child.stderr!.on('data', (text: string) => {
      if (/ 5\/12 /.test(text)) first.child.kill('SIGKILL');
    });
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL' });
    await start();
    const { stats, predictions } = await get('/api/svc/scorecard?horizon=1');
    const days = recordedDays();
    expect(stats.total).toBe(days);
    expect(predictions.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      Array.from({ length: days }, (_, index) => days - index),
    );
    expect((await get('/api/svc/onchain-oracle/stats')).predictions).toBe(4 * days);
    const { data } = await get('/api/svc/onchain-oracle/history?limit=100');
    for (const { uid } of data) expect((await get(`/api/svc/onchain-oracle/verify/${uid}`)).verified).toBe(true);
  });

  it('without a replay is ready with an empty record', async () => {
    await start({ REPLAY_DAYS: '0' });
    expect((await get('/api/svc/scorecard')).summary.verdict).toBe('nothing resolved yet: no claim can be made');
    expect(await get('/api/svc/agent/reputation')).toMatchObject({ registered: true, totalFeedback: 0, score: null });
  });
});

describe('a second process on the same folder', () => {
  it('serves the same record from the same database and chain', async () => {
    const first = await start();
    const { rpcUrl } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'));
    const scorecard = await get('/api/svc/scorecard');
    const identity = await get('/api/svc/agent/identity');
    // One service under one address, as behind a proxy.
    const second = await startService(environment({ ROLE: 'api', CHAIN_RPC_URL: rpcUrl, PUBLIC_URL: first.url }));
    expect(await (await fetch(`${second.url}/api/svc/scorecard`)).json()).toEqual(scorecard);
    expect(await (await fetch(`${second.url}/api/svc/agent/identity`)).json()).toEqual(identity);
    expect(await (await fetch(`${second.url}/api/status`)).json()).toMatchObject({ role: 'api', schedule: [] });
    second.child.kill('SIGTERM');
    expect(await second.ended).toMatchObject({ code: 0 });
    expect((await fetch(`${first.url}/ready`)).status).toBe(200);
  });
});

describe('a start that cannot work', () => {
  it('names the setting', async () => {
    expect(await refused({ PORT: 'abc' })).toContain('Setting PORT');
    expect(await refused({ FEEDS: 'csv:/no/such/folder' })).toMatch(/FEED_INVALID: .*\/no\/such\/folder/);
    expect(await refused({ CHAIN_RPC_URL: 'https://rpc.example.org' })).toContain('Setting PUBLIC_URL: is required');
    expect(await refused({ HOST: '203.0.113.1' })).toContain('Setting HOST');
  });

  it('refuses to commit to simulated data on a real chain', async () => {
    const real = {
      PUBLIC_URL: 'https://oracle.example.org',
      CHAIN_RPC_URL: 'https://rpc.example.org',
      ATTESTER_PRIVATE_KEY: generatePrivateKey(),
      REPORTER_PRIVATE_KEY: generatePrivateKey(),
      PROVIDER_PRIVATE_KEY: generatePrivateKey(),
      FACILITATOR_PRIVATE_KEY: generatePrivateKey(),
      PAYEE_ADDRESS: `0x${'5'.repeat(40)}`,
      SALT_SECRET: 'x'.repeat(32),
      ENCRYPTION_SECRET: 'e'.repeat(32),
      GATE_TOKEN_ADDRESS: `0x${'1'.repeat(40)}`,
      STABLECOIN_ADDRESS: `0x${'2'.repeat(40)}`,
      IDENTITY_REGISTRY_ADDRESS: `0x${'3'.repeat(40)}`,
      REPUTATION_REGISTRY_ADDRESS: `0x${'4'.repeat(40)}`,
    };
    const output = await refused({ ...real, FEEDS: 'simulated' });
    expect(output).toContain('Setting FEEDS: simulated data is refused on a real chain');
    const keys = [real.ATTESTER_PRIVATE_KEY, real.REPORTER_PRIVATE_KEY, real.PROVIDER_PRIVATE_KEY, real.FACILITATOR_PRIVATE_KEY];
    for (const key of keys) expect(output).not.toContain(key);
  });

  it('names the process that has the folder, and the port that is taken', async () => {
    const { url, child } = await start();
    expect(await refused({})).toContain(`${child.pid}`);
    expect(await refused({ PORT: new URL(url).port })).toContain('Setting PORT');
  });

  it('refuses another feed than the record was made from', async () => {
    await start();
    await stop('SIGTERM');
    expect(await refused({ SIMULATION_SEED: '7' })).toContain('this record was made from simulated (seed 2)');
  });

  it('tells a damaged folder and the command that resets it, which works', async () => {
    await start();
    await stop('SIGTERM');
    await truncate(join(dataDir, 'keys.json'), 20);
    expect(await refused({})).toMatch(/DATA_DIR_DAMAGED: .*keys\.json.*\n.*npm run reset/);
    expect(await spawnNode(['bin/reset.mjs'], environment()).ended).toMatchObject({ code: 0 });
    await start();
    expect((await get('/api/svc/scorecard')).predictions).toHaveLength(recordedDays());
  });
});

describe('a signal', () => {
  /** A client that begins a request and never ends it. */
  async function stall(url: string): Promise<Socket> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname).on('error', () => {});
    await once(socket, 'connect');
    socket.write('GET /health HTTP/1.1\r\nHost: ');
    return socket;
  }

  it('ends the service within ten seconds, whatever a client does', async () => {
    const { url } = await start();
    const socket = await stall(url);
    expect(await stop('SIGINT')).toBeLessThan(10_000);
    socket.destroy();
  });

  it('that comes a second time ends it at once', async () => {
    const { url, child, ended, output } = await start();
    const socket = await stall(url);
    child.kill('SIGINT');
    await vi.waitUntil(() => output().includes('stopping'), { timeout: 5_000, interval: 10 });
    const began = performance.now();
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130 });
    expect(performance.now() - began).toBeLessThan(2_000);
    socket.destroy();
  });
});
