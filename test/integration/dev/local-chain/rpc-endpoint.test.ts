import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, createWalletClient, type Hex, http, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { callJsonRpc, fundGas } from '../../../../src/dev/local-chain/contracts.ts';
import { type LocalChain, startLocalChain } from '../../../../src/dev/local-chain/local-chain.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { openAsk, type Question } from '../../../support/http/ask.ts';

const VICTIM = '0x00000000000000000000000000000000000000aa';
const EVIL = 'https://evil.example';
const JSON_TYPE = { 'content-type': 'application/json' };

let stateDir: string;
let chain: LocalChain;
let port: number;
beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'rpc-endpoint-'));
  chain = await startLocalChain({ stateDir });
  port = Number(new URL(chain.publicRpcUrl).port);
});
afterAll(async () => {
  await chain.stop();
  await removeFolder(stateDir);
});

const rpcCall = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
const theft = JSON.stringify(rpcCall('anvil_setBalance', VICTIM, '0x1234'));
const balance = async (address: string = VICTIM) => BigInt(await callJsonRpc<Hex>(chain.rpcUrl, 'eth_getBalance', address, 'latest'));

async function send({ path = '/', method = 'POST', headers = {}, body = '' }: Question & { path?: string }) {
  const { ask, close } = openAsk(chain.publicRpcUrl);
  const { text, ...answer } = await ask(path, { method, headers: { ...JSON_TYPE, ...headers }, body }).finally(close);
  return { ...answer, body: text === '' ? undefined : JSON.parse(text) };
}

/** Whether the endpoint upgrades to a WebSocket, to which browsers let every page connect. */
async function opensSocket(headers: Record<string, string> = {}): Promise<boolean> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('open', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.terminate());
}

describe('a page in a browser', () => {
  it.each([
    ['a foreign Origin', { origin: EVIL }],
    ['an opaque Origin', { origin: 'null' }],
    ['the Origin of a page of this machine', { origin: 'http://localhost:3000' }],
    ['a name that was rebound to 127.0.0.1', { host: 'evil.example' }],
    ['a name that was rebound to 127.0.0.1, at the port of the chain', { host: 'PORT' }],
  ])('with %s changes nothing, and gets no WebSocket', async (_, given) => {
    const headers = 'host' in given && given.host === 'PORT' ? { host: `evil.example:${port}` } : given;
    expect((await send({ headers, body: theft })).status).toBe(403);
    expect(await opensSocket(headers as Record<string, string>)).toBe(false);
    expect(await balance()).toBe(0n);
  });

  it.each([
    ['text/plain', { method: 'POST', headers: { 'content-type': 'text/plain' } }, 415],
    ['a form', { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
    ['GET', { method: 'GET' }, 405],
    ['PUT', { method: 'PUT' }, 405],
  ])('gets nothing by %s, which needs no preflight or no Origin', async (_, sent, status) => {
    expect((await send({ ...sent, body: theft })).status).toBe(status);
    expect(await balance()).toBe(0n);
  });

  it('gets no permission by a preflight request', async () => {
    const { status, headers } = await send({ method: 'OPTIONS', headers: { origin: EVIL, 'access-control-request-method': 'POST' } });
    expect(status).toBe(403);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('is rejected by the endpoint of the owner too', async () => {
    const path = new URL(chain.rpcUrl).pathname;
    expect((await send({ path, headers: { origin: EVIL }, body: theft })).status).toBe(403);
    expect((await send({ path, headers: { host: 'evil.example' }, body: theft })).status).toBe(403);
    expect(await balance()).toBe(0n);
  });

  it.runIf(process.platform === 'linux')('finds no port of the node itself', async () => {
    const { pid } = JSON.parse(readFileSync(join(stateDir, 'anvil.pid'), 'utf8')) as { pid: number };
    const ports = listeningPorts(pid);
    expect(ports).toHaveLength(1);
    expect(await connects('127.0.0.1', ports[0]!)).toBe(false);
    expect(await connects('127.0.0.1', port)).toBe(true);
  });
});

/** TCP ports that a process listens on, at any address. */
function listeningPorts(pid: number): number[] {
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && open.includes(`socket:[${inode}]`))
    .map(([, local]) => Number.parseInt(local!.split(':')[1]!, 16));
}

async function connects(host: string, at: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(at, host);
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

describe('a program of this machine', () => {
  const REWRITING: [string, ...unknown[]][] = [
    ['anvil_setBalance', VICTIM, '0x1'],
    ['hardhat_setBalance', VICTIM, '0x1'],
    ['anvil_impersonateAccount', VICTIM],
    ['anvil_dumpState'],
    ['evm_mine'],
    ['evm_increaseTime', 60],
    ['evm_snapshot'],
    ['debug_traceTransaction', `0x${'0'.repeat(64)}`],
    ['miner_start'],
    ['txpool_nope'],
    ['wallet_sendTransaction', {}],
    ['eth_sendTransaction', { from: VICTIM, to: VICTIM }],
    ['eth_sendUnsignedTransaction', { from: VICTIM, to: VICTIM }],
    ['eth_sign', VICTIM, '0x00'],
    ['EVM_MINE'],
    ['toString'],
  ];

  it('is rejected every method that rewrites the chain, alone and in a batch', async () => {
    const height = await callJsonRpc(chain.rpcUrl, 'eth_blockNumber');
    const calls = REWRITING.map(([method, ...params]) => rpcCall(method, ...params));
    const { body } = await send({ body: JSON.stringify(calls) });
    expect(body.map(({ error }: { error?: { code: number } }) => error?.code)).toEqual(calls.map(() => -32_601));
    for (const call of calls) expect((await send({ body: JSON.stringify(call) })).body).toMatchObject({ error: { code: -32_601 } });
    expect(await opensSocket()).toBe(false);
    expect([await balance(), await callJsonRpc(chain.rpcUrl, 'eth_blockNumber')]).toEqual([0n, height]);
  });

  it('gets no further by a guessed path', async () => {
    for (const path of [`/${'0'.repeat(64)}`, '//', new URL(chain.rpcUrl).pathname.slice(0, -1), `${new URL(chain.rpcUrl).pathname}/`]) {
      expect((await send({ path, body: theft })).body).toMatchObject({ error: { code: -32_601 } });
    }
    expect(await balance()).toBe(0n);
  });

  it('gets an error of JSON-RPC for what is no call', async () => {
    expect((await send({ body: '{' })).body).toMatchObject({ id: null, error: { code: -32_700 } });
    for (const body of ['1', '{}', '[]', '{"method":1}']) expect((await send({ body })).body).toMatchObject({ error: { code: -32_600 } });
    expect((await send({ body: JSON.stringify({ jsonrpc: '2.0', method: 'eth_chainId' }) })).status).toBe(204);
    expect((await send({ body: `"${'x'.repeat(2 * 2 ** 20)}"` })).status).toBe(413);
  });

  it('uses the chain with a stock client over HTTP, alone and in batches', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    await fundGas(chain.rpcUrl, [account.address]);
    for (const transport of [http(chain.publicRpcUrl), http(chain.publicRpcUrl, { batch: true })]) {
      const reader = createPublicClient({ chain: baseSepolia, transport, pollingInterval: 20 });
      const wallet = createWalletClient({ chain: baseSepolia, account, transport });
      const before = await reader.getBalance({ address: VICTIM });
      const hash = await wallet.sendTransaction({ to: VICTIM, value: parseEther('1') });
      const { status } = await reader.waitForTransactionReceipt({ hash });
      const read = await Promise.all([reader.getChainId(), reader.getBlockNumber(), reader.getBalance({ address: VICTIM })]);
      expect([status, read[0], read[2] - before]).toEqual(['success', 84532, parseEther('1')]);
    }
  });
});

describe('the process that owns the chain', () => {
  it('calls every method', async () => {
    const height = await callJsonRpc(chain.rpcUrl, 'eth_blockNumber');
    await callJsonRpc(chain.rpcUrl, 'evm_mine');
    expect(await callJsonRpc(chain.rpcUrl, 'eth_blockNumber')).not.toBe(height);
    expect(chain.rpcUrl.startsWith(`${chain.publicRpcUrl}/`)).toBe(true);
  });

  it('gets answers that are long, and many at once, without HTTP in between', async () => {
    const client = createPublicClient({ transport: http(chain.rpcUrl, { fetchFn: chain.fetch }) });
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.getChainId()));
    expect(new Set(answers)).toEqual(new Set([84532]));
    const state = await client.request({ method: 'anvil_dumpState' as never });
    expect(state).toMatch(/^0x[0-9a-f]{1000,}$/);
  });
});
