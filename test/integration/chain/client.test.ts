import { parseAbiItem, parseUnits } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chain, readChainHealth } from '../../../src/chain/client.ts';
import { readGateBalance, readGateDecimals } from '../../../src/chain/contracts.ts';
import { chainCall, readBlockNumber, readLogs } from '../../../src/chain/rpc.ts';
import { fundDemoWallets } from '../../../src/dev/local-chain/contracts.ts';
import type { OracleError } from '../../../src/errors.ts';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import { type Interference, rpcProxy } from '../../support/chain/rpc-proxy.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await testChain();
});
afterAll(() => chain.stop());

const address = () => privateKeyToAccount(generatePrivateKey()).address;
const EVENT = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
const urlOf = new WeakMap<Chain, string>();

describe('createChain', () => {
  it('rejects an endpoint of another chain', async () => {
    await expect(chain.connect({ chainId: 1 })).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'CHAIN_ID' });
  });

  it('throws CHAIN_UNREACHABLE when the endpoint does not answer', async () => {
    const proxy = await rpcProxy(chain.rpcUrl);
    await proxy.close();
    await expect(chain.connect({ rpcUrl: proxy.url })).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', cause: expect.any(Error) });
  });
});

describe('an endpoint whose answer is unusable', () => {
  it.each<[string, (chain: Chain) => Promise<unknown>]>([
    ['eth_getBlockByNumber', readChainHealth],
    ['eth_blockNumber', readBlockNumber],
    ['eth_call', (connected) => readGateBalance(connected, address())],
    ['eth_getLogs', (connected) => readLogs(connected, { address: address(), event: EVENT, fromBlock: 0n, toBlock: 1n })],
    ['eth_getBalance', (connected) => chainCall('Reading a balance', () => connected.client.getBalance({ address: address() }))],
    ['eth_chainId', (connected) => chain.connect({ rpcUrl: urlOf.get(connected)! })],
  ])('is reported with the method %s', async (method, read) => {
    const proxy = await rpcProxy(chain.rpcUrl);
    const connected = await chain.connect({ rpcUrl: proxy.url });
    urlOf.set(connected, proxy.url);
    const answers: Interference[] = [{ result: null }, { error: { code: -32_601, message: 'the method does not exist' } }, 'drop'];
    if (method !== 'eth_getBlockByNumber' && method !== 'eth_call') answers.push({ result: {} });
    for (const answer of answers) {
      proxy.hooks.onRequest = (call) => (call.method === method ? answer : undefined);
      const error = (await read(connected).catch((failure: OracleError) => failure)) as OracleError;
      expect({ answer, code: error.code, message: error.message }).toEqual({
        answer,
        code: 'CHAIN_UNREACHABLE',
        message: expect.stringMatching(new RegExp(`^[A-Z].*: the chain gives no usable answer to ${method}$`)),
      });
    }
    await proxy.close();
  });
});

it('returns the latest block', async () => {
  const { at, blockNumber } = await readChainHealth(await chain.connect());
  expect(blockNumber).toBeGreaterThan(0);
  expect(Math.abs(Date.now() - at.getTime())).toBeLessThan(10_000);
});

it('times out for a node that never answers', async () => {
  const proxy = await rpcProxy(chain.rpcUrl);
  const connected = await chain.connect({ rpcUrl: proxy.url });
  const { promise, resolve } = Promise.withResolvers<undefined>();
  proxy.hooks.onRequest = () => promise;
  const began = performance.now();
  await expect(readChainHealth(connected)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
  expect(performance.now() - began).toBeLessThan(6_000);
  resolve(undefined);
  await proxy.close();
});

describe('the gate balance', () => {
  it('of the demonstration wallets matches their tier, also after funding twice', async () => {
    const wallets = { basic: address(), premium: address(), poor: address(), buyer: address() };
    const { addresses, deployer, rpcUrl } = chain;
    await fundDemoWallets(rpcUrl, deployer, { addresses, wallets });
    await fundDemoWallets(rpcUrl, deployer, { addresses, wallets });
    const connected = await chain.connect();
    const balances = await Promise.all(Object.values(wallets).map(async (wallet) => (await readGateBalance(connected, wallet)).balance));
    expect(balances).toEqual([parseUnits('500000000', 18), parseUnits('1000000000', 18), 0n, 0n]);
  });

  it('is read at the given block', async () => {
    const wallets = { basic: address(), premium: address(), poor: address(), buyer: address() };
    const connected = await chain.connect();
    const before = await readGateBalance(connected, wallets.basic);
    await fundDemoWallets(chain.rpcUrl, chain.deployer, { addresses: chain.addresses, wallets });
    expect((await readGateBalance(connected, wallets.basic)).balance).toBe(parseUnits('500000000', 18));
    expect(await readGateBalance(connected, wallets.basic, before.blockNumber)).toEqual({ balance: 0n, blockNumber: before.blockNumber });
  });

  it('throws CHAIN_UNREACHABLE when the endpoint lacks the token or reports a revert', async () => {
    const connected = await chain.connect();
    const bare = { ...connected, addresses: { ...connected.addresses, gateToken: address() } };
    const unreachable = { code: 'CHAIN_UNREACHABLE', retryable: true };
    await expect(readGateBalance(bare, address())).rejects.toMatchObject(unreachable);
    await expect(readGateDecimals(bare)).rejects.toMatchObject(unreachable);
    const proxy = await rpcProxy(chain.rpcUrl, {
      onRequest: ({ method }) => (method === 'eth_call' ? { error: { code: 3, message: 'execution reverted' } } : undefined),
    });
    await expect(readGateBalance(await chain.connect({ rpcUrl: proxy.url }), address())).rejects.toMatchObject(unreachable);
    await proxy.close();
  });
});
