import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createPublicClient, encodeFunctionData, erc20Abi, type Hex, http, multicall3Abi, numberToHex, parseAbiItem } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { createRateLimits, type RateLimits } from '../../../../../src/auth/rate-limits.ts';
import { MULTICALL3_ADDRESS } from '../../../../../src/chain/addresses.ts';
import { createReadOnlyRpc, MAX_CALLS_PER_BATCH, MAX_LOG_CALLS, type ReadOnlyRpcOptions } from '../../../../../src/chain/rpc-proxy.ts';
import { MAX_READS, rpcRoutes } from '../../../../../src/http/routes/rpc.ts';
import { createApp } from '../../../../../src/http/server.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { type TestChain, testChain } from '../../../../support/chain/chain.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';

let chain: TestChain;
let url: string;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  chain = await testChain();
  closing.push(() => chain.stop());
  url = (await open({ rpcUrl: chain.rpcUrl })).url;
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

/** Serves the proxy to a node; null for a service without one. */
async function open(options: ReadOnlyRpcOptions | null, rpcUrl: string | null = null, limits?: RateLimits): Promise<Served> {
  const chainReading = { rpc: options === null ? null : createReadOnlyRpc(options), rpcUrl };
  const log = createLog({ level: 'silent', secrets: [] });
  const identify = async (authorization?: string): Promise<Caller> =>
    authorization === undefined ? PUBLIC_CALLER : { tier: 'basic', wallet: `0x${'b'.repeat(40)}` };
  const served = await serveApp(
    createApp(rpcRoutes({ chainReading } as Services), { log, identify, trustProxy: 1, ...(limits && { limits }) }),
  );
  closing.push(served.close);
  return served;
}

const post = (to: string, body: string, path = '/rpc') =>
  fetch(`${to}${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function ask(body: unknown, to = url, path?: string): Promise<any> {
  const response = await post(to, JSON.stringify(body), path);
  expect(response.status).toBe(200);
  return response.json();
}

const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });

/** A fake node that records calls and returns stubbed responses. */
async function node(answer: (calls: { id: number; method: string }[]) => string | Promise<string>) {
  const asked: string[] = [];
  const server: Server = createServer(async (request, response) => {
    const calls = (await json(request)) as { id: number; method: string }[];
    asked.push(...calls.map(({ method }) => method));
    response.end(await answer(calls));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const results = (calls: { id: number }[], result: unknown) => JSON.stringify(calls.map(({ id }) => ({ jsonrpc: '2.0', id, result })));

describe('the local chain', () => {
  it('returns through the proxy what the node returns', async () => {
    const client = createPublicClient({ transport: http(`${url}/rpc`) });
    const direct = createPublicClient({ transport: http(chain.rpcUrl) });
    const { eas, gateToken } = chain.addresses;
    expect(await client.getChainId()).toBe(chain.chainId);
    expect(await client.getBlockNumber()).toBe(await direct.getBlockNumber());
    expect(await client.getCode({ address: eas })).toBe(await direct.getCode({ address: eas }));
    expect(await client.getBalance({ address: chain.accounts.attester.address })).toBeGreaterThan(0n);
    const balance = { address: gateToken, abi: erc20Abi, functionName: 'balanceOf', args: [chain.deployer.address] } as const;
    expect(await client.readContract(balance)).toBe(await direct.readContract(balance));
    const event = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
    const [log, ...more] = await client.getLogs({ address: gateToken, event, fromBlock: 0n, toBlock: 'latest' });
    expect(more).toEqual([]);
    const block = await client.getBlock({ blockHash: log.blockHash });
    expect(block).toEqual(await client.getBlock({ blockNumber: log.blockNumber }));
    expect(await client.getTransaction({ hash: log.transactionHash })).toMatchObject({ blockHash: log.blockHash });
    expect(await client.getTransactionReceipt({ hash: log.transactionHash })).toMatchObject({ status: 'success' });
  });

  it('returns the revert reason of a contract', async () => {
    const data = '0xa3112a64' as Hex;
    const tx = call('eth_call', { to: chain.addresses.eas, data }, 'latest');
    const direct = await ask(tx, chain.rpcUrl, '');
    expect(direct.error.code).toBe(3);
    expect((await ask(tx)).error).toEqual(direct.error);
  });

  it('answers a batch call by call, rejected calls included, under their ids', async () => {
    const answers = await ask([
      { ...call('eth_chainId'), id: 'a' },
      { ...call('anvil_setBalance', chain.deployer.address, '0x0'), id: null },
      7,
      { ...call('eth_getCode', 'nowhere'), id: 1.5 },
      { ...call('eth_chainId'), id: 'a' },
    ]);
    const answered = { jsonrpc: '2.0', id: 'a', result: numberToHex(chain.chainId) };
    expect(answers).toEqual([
      answered,
      { jsonrpc: '2.0', id: null, error: { code: -32_601, message: expect.any(String) } },
      { jsonrpc: '2.0', id: null, error: { code: -32_600, message: expect.any(String) } },
      { jsonrpc: '2.0', id: 1.5, error: { code: -32_602, message: expect.any(String) } },
      answered,
    ]);
  });

  it('is not changed by any request', async () => {
    const before = await chain.rpc('eth_blockNumber');
    const { address } = chain.accounts.stranger;
    const changes = [
      call('evm_mine'),
      call('anvil_mine', '0x5'),
      call('anvil_setBalance', address, '0x0'),
      call('eth_sendTransaction', { from: address, to: address, value: '0x1' }),
      call('eth_call', { to: address }, 'latest', { [address]: { balance: '0x0' } }),
    ];
    for (const { error } of await ask(changes)) expect([-32_601, -32_602]).toContain(error.code);
    expect(await chain.rpc('eth_blockNumber')).toBe(before);
    expect(BigInt(await chain.rpc<Hex>('eth_getBalance', address, 'latest'))).toBeGreaterThan(0n);
  });
});

describe('the proxy', () => {
  it('forwards only reading calls, and of a too long range only the query of its length', async () => {
    const { rpcUrl, asked } = await node((calls) => results(calls, '0xffffff'));
    const to = (await open({ rpcUrl })).url;
    await ask([call('anvil_reset'), call('debug_traceCall', {}), call('eth_getCode', 'x'), null], to);
    expect(asked).toEqual([]);
    const tooLong = call('eth_getLogs', { fromBlock: '0x0' });
    expect(await ask(tooLong, to)).toMatchObject({ error: { code: -32_005, message: expect.stringContaining('10000 blocks') } });
    expect(asked).toEqual(['eth_blockNumber']);
    expect(await ask([call('eth_chainId'), tooLong], to)).toMatchObject([{ result: '0xffffff' }, { error: { code: -32_005 } }]);
    expect(asked).toEqual(['eth_blockNumber', 'eth_blockNumber', 'eth_chainId']);
  });

  it.each([
    ['an empty batch', []],
    ['more calls than one request may have', Array(MAX_CALLS_PER_BATCH + 1).fill(call('eth_chainId'))],
  ])('forwards nothing of %s', async (_, batch) => {
    const { rpcUrl, asked } = await node((calls) => results(calls, '0x1'));
    const answer = await ask(batch, (await open({ rpcUrl })).url);
    expect(answer).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'A batch has 1 to 50 calls' } });
    expect(asked).toEqual([]);
  });

  it('forwards a bounded number of calls per request', async () => {
    expect(await ask(Array(MAX_CALLS_PER_BATCH).fill(call('eth_chainId')))).toHaveLength(MAX_CALLS_PER_BATCH);
  });
});

describe('a node', () => {
  const UNREACHABLE = { jsonrpc: '2.0', id: 1, error: { code: -32_603, message: expect.stringContaining('did not answer') } };

  it.each<[string, (calls: { id: number }[]) => string | Promise<string>]>([
    ['that says no JSON', () => 'upstream at http://10.0.0.1 failed'],
    ['that says something else', () => '{"jsonrpc":"2.0","id":0,"result":"0x1"}'],
    ['that leaves a call out', () => '[]'],
    ['that answers with what are no answers', () => '[null, 7, {"id":"0","result":"0x1"}, {"id":0,"error":7}]'],
    ['that did not answer in time', () => new Promise<string>(() => undefined)],
  ])('%s is reported as unreachable, without its message', async (_, answer) => {
    const { rpcUrl } = await node(answer);
    const { url: to } = await open({ rpcUrl, timeoutMs: 100, maxBytes: 1_000 });
    expect(await ask(call('eth_chainId'), to)).toEqual(UNREACHABLE);
  });

  it.each([['no number'], [null], ['0x'], [7]])('with %j as newest block is reported as unreachable', async (head) => {
    const { rpcUrl } = await node((calls) => results(calls, head));
    expect(await ask(call('eth_getLogs', { fromBlock: '0x0' }), (await open({ rpcUrl })).url)).toEqual(UNREACHABLE);
  });

  it('is not reported as unreachable for errors of this service', async () => {
    const response = await post((await open({ rpcUrl: 'nowhere' })).url, JSON.stringify(call('eth_chainId')));
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: 'INTERNAL', detail: expect.not.stringContaining('nowhere') });
  });

  it('may return a null error', async () => {
    const { rpcUrl } = await node((calls) => JSON.stringify(calls.map(({ id }) => ({ id, result: '0x1', error: null }))));
    expect(await ask(call('eth_chainId'), (await open({ rpcUrl })).url)).toEqual({ jsonrpc: '2.0', id: 1, result: '0x1' });
  });

  it('that is down is reported next to calls rejected before', async () => {
    const { url: to } = await open({ rpcUrl: 'http://127.0.0.1:1' });
    expect(await ask([call('eth_chainId'), call('evm_mine')], to)).toEqual([
      UNREACHABLE,
      expect.objectContaining({ error: expect.objectContaining({ code: -32_601 }) }),
    ]);
  });

  it('has its messages truncated, and its errors reduced to those of JSON-RPC', async () => {
    const error = { code: 'x', message: 'm'.repeat(5_000), data: 'd'.repeat(30_000), stack: 'at /home' };
    const { rpcUrl } = await node((calls) => JSON.stringify(calls.map(({ id }) => ({ id, error }))));
    const answer = await ask(call('eth_chainId'), (await open({ rpcUrl })).url);
    expect(answer).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32_603, message: 'm'.repeat(500) } });
  });
});

describe('log queries', () => {
  const logs = (id: number) => ({ ...call('eth_getLogs', { fromBlock: '0x0', toBlock: '0x1' }), id });

  it('run sequentially, a few per request', async () => {
    const sizes: number[] = [];
    const { rpcUrl, asked } = await node((calls) => {
      sizes.push(calls.length);
      return results(calls, []);
    });
    const batch = [call('eth_chainId'), ...Array.from({ length: MAX_LOG_CALLS + 1 }, (_, index) => logs(index)), call('eth_chainId')];
    const answers = await ask(batch, (await open({ rpcUrl })).url);
    expect(sizes).toEqual([2, ...Array(MAX_LOG_CALLS).fill(1)]);
    expect(asked.filter((method) => method === 'eth_getLogs')).toHaveLength(MAX_LOG_CALLS);
    expect(answers[MAX_LOG_CALLS + 1]).toEqual({
      jsonrpc: '2.0',
      id: MAX_LOG_CALLS,
      error: { code: -32_005, message: 'eth_getLogs: at most 4 of one request are answered' },
    });
    expect(answers.filter(({ result }: { result?: unknown }) => result !== undefined)).toHaveLength(MAX_LOG_CALLS + 2);
  });

  it('fail alone where the response is too long, over all calls of a request', async () => {
    let asked = 0;
    const { rpcUrl } = await node((calls) => {
      if (calls[0].method !== 'eth_getLogs') return results(calls, '0x1');
      asked += 1;
      return results(calls, 'x'.repeat([300, 2_000, 300, 600][asked - 1]));
    });
    const batch = [logs(1), logs(2), logs(3), logs(4), call('eth_chainId')];
    const answers = await ask(batch, (await open({ rpcUrl, maxBytes: 1_000 })).url);
    const tooLong = { code: -32_005, message: expect.stringContaining('exceeds the size limit') };
    expect(answers).toMatchObject([
      { id: 1, result: expect.any(String) },
      { error: tooLong },
      { id: 3 },
      { error: tooLong },
      { result: '0x1' },
    ]);
    expect(answers[2].result).toHaveLength(300);
  });
});

it('of a batch take a turn each at the node: a call of another client comes between', async () => {
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
  const slow = await node(async (calls) => {
    begin();
    await new Promise((next) => setTimeout(next, 5));
    return results(calls, '0x');
  });
  const to = (await open({ rpcUrl: slow.rpcUrl })).url;
  const batch = Array.from({ length: 20 }, () => call('eth_call', { to: chain.addresses.gateToken, data: '0x' }, 'latest'));
  const batches = Promise.all([ask(batch, to), ask(batch, to)]);
  await hasBegun;
  expect((await ask(call('eth_blockNumber'), to)).result).toBe('0x');
  await batches;
  expect(slow.asked).toHaveLength(41);
  expect(slow.asked.indexOf('eth_blockNumber')).toBeLessThan(20);
});

it('do not affect other calls, of which a too long one fails alone too', async () => {
  const lengths: Record<string, number> = { eth_chainId: 10, eth_getCode: 1_500, eth_getBalance: 300 };
  const { rpcUrl, asked } = await node((calls) =>
    JSON.stringify(calls.map(({ id, method }) => ({ id, result: 'x'.repeat(lengths[method]) }))),
  );
  const batch = ['eth_chainId', 'eth_getCode', 'eth_getBalance'].map((method, id) => ({
    ...call(method, ...(id === 0 ? [] : [`0x${'0'.repeat(40)}`])),
    id,
  }));
  const answers = await ask(batch, (await open({ rpcUrl, maxBytes: 1_000 })).url);
  expect(answers).toEqual([
    { jsonrpc: '2.0', id: 0, result: 'x'.repeat(10) },
    { jsonrpc: '2.0', id: 1, error: { code: -32_005, message: expect.stringContaining('exceeds the size limit') } },
    { jsonrpc: '2.0', id: 2, result: 'x'.repeat(300) },
  ]);
  expect(asked).toHaveLength(6);
});

describe('the endpoint', () => {
  it('rejects invalid and oversized JSON', async () => {
    expect((await post(url, '{not JSON')).status).toBe(400);
    expect(
      (await post(url, JSON.stringify(call('eth_call', { to: `0x${'0'.repeat(40)}`, data: `0x${'00'.repeat(40_000)}` })))).status,
    ).toBe(413);
    expect((await fetch(`${url}/rpc`, { method: 'POST', body: 'x' })).status).toBe(415);
    expect((await fetch(`${url}/rpc`)).status).toBe(405);
  });

  it('allows cross-origin requests to public data', async () => {
    const response = await fetch(`${url}/rpc`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://other.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type',
      },
    });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  it.each([
    ['https://rpc.example.org', 'https://rpc.example.org'],
    [null, 'any endpoint'],
  ])('of a service on a real chain names where to read it: %s', async (rpcUrl, words) => {
    const { url: to } = await open(null, rpcUrl);
    const response = await post(to, JSON.stringify(call('eth_chainId')));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'NOT_FOUND', suggestedAction: expect.stringContaining(words) });
  });
});

describe('the rate limit', () => {
  const MODEXP = { to: `0x${'0'.repeat(39)}5`, data: `0x${'00'.repeat(96)}` };
  const left = (response: Response) => Number(/r=(\d+)/.exec(response.headers.get('RateLimit')!)![1]);

  async function openLimited() {
    let taken = 0;
    const log = createLog({ level: 'silent', secrets: [] });
    const limits = createRateLimits({
      counts: { add: async (_id, count) => (taken += count) },
      limits: { public: 60, wallet: 300, rpc: 10, tasks: 10 },
      now: () => new Date(0),
      log,
    });
    const { rpcUrl, asked } = await node((calls) => results(calls, '0x'));
    const served = await open({ rpcUrl, contracts: [chain.addresses.eas] }, null, limits);
    return { asked, send: (body: unknown) => post(served.url, JSON.stringify(body)) };
  }

  it('counts each call of a batch, and forwards nothing of a batch beyond the limit', async () => {
    const { asked, send } = await openLimited();
    expect(left(await send(Array(33).fill(call('eth_call', MODEXP, 'latest'))))).toBe(27);
    expect(asked).toHaveLength(33);
    const response = await send(Array(33).fill(call('eth_call', MODEXP, 'latest')));
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ code: 'RATE_LIMITED', policy: 'public' });
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(asked).toHaveLength(33);
    expect((await send(Array(20).fill(call('eth_call', MODEXP, 'latest')))).status).toBe(200);
  });

  it('takes a unit for a batch beyond it, so that few bodies are read for nothing', async () => {
    const { send } = await openLimited();
    const statuses: number[] = [];
    for (let request = 0; request < 80; request++) statuses.push((await send(Array(33).fill(call('eth_call', MODEXP, 'latest')))).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(left(await send(call('eth_chainId')))).toBe(0);
  });

  it('counts 50 lookups as one unit, a rejected call as none, and a request as a tenth at least', async () => {
    const { send } = await openLimited();
    expect(left(await send(Array(50).fill(call('eth_blockNumber'))))).toBe(59);
    for (let request = 1; request <= 10; request++) expect(left(await send(call('evm_mine')))).toBe(58);
    expect(left(await send(call('eth_chainId')))).toBe(57);
  });

  it('counts attestations that are read at once by their number', async () => {
    const { send } = await openLimited();
    const calls = Array.from({ length: 100 }, () => ({ target: chain.addresses.eas, allowFailure: false, callData: '0x' as Hex }));
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] });
    const read = call('eth_call', { to: MULTICALL3_ADDRESS, data, gas: '0x989680' }, 'latest');
    expect(left(await send(read))).toBe(59);
    expect(left(await send(read))).toBe(59);
    expect(left(await send(read))).toBe(58);
  });
});

describe('a slow node', () => {
  const send = (to: string, headers: Record<string, string>) =>
    fetch(`${to}/rpc`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(call('eth_chainId')),
    });

  it('is shared: anonymous callers have a part of it, and token holders take precedence', async () => {
    const { promise: passed, resolve: release } = Promise.withResolvers<void>();
    const answered: string[] = [];
    const { rpcUrl } = await node(async (calls) => {
      await passed;
      return results(calls, '0x1');
    });
    const served = await open({ rpcUrl });
    const ask = async (name: string, headers: Record<string, string>) => {
      const { status } = await send(served.url, headers);
      answered.push(`${name} ${status}`);
    };
    const from = (address: string) => ({ 'X-Forwarded-For': address });
    const asked = [
      ...Array.from({ length: MAX_READS.perClient + 1 }, () => ask('client', from('192.0.2.1'))),
      ...Array.from({ length: MAX_READS.anonymous }, (_, n) => ask('anonymous', from(`198.51.100.${n}`))),
    ];
    await expect.poll(() => answered.length).toBe(asked.length - MAX_READS.anonymous);
    expect(new Set(answered)).toEqual(new Set(['client 429', 'anonymous 429']));
    const holder = ask('holder', { ...from('192.0.2.9'), Authorization: 'Bearer good' });
    const second = ask('holder', { ...from('192.0.2.9'), Authorization: 'Bearer good' });
    // A request that is refused shows that those before it have come.
    await ask('late', from('192.0.2.8'));
    release();
    await Promise.all([...asked, holder, second]);
    const order = answered.slice(answered.indexOf('late 429') + 1);
    expect(order.indexOf('holder 200')).toBeLessThan(4);
    expect(answered.filter((one) => one.endsWith('200'))).toHaveLength(MAX_READS.anonymous + 2);
  });
});
