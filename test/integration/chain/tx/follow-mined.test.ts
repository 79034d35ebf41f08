import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFinalBlockNumber } from '../../../../src/chain/client.ts';
import type { JournalRow } from '../../../../src/chain/journal.ts';
import { followMined } from '../../../../src/chain/wallet.ts';
import { type Interference, type RpcCall, type RpcHooks, rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { freshAddress, startWalletBench, type WalletBench } from './wallet-bench.ts';

let bench: WalletBench;
beforeAll(async () => {
  bench = await startWalletBench();
});
afterAll(() => bench.stop());

const rowOf = async (key: string) => (await bench.journal.find(`84532:attester:${key}`)) as JournalRow;

/** One look at the chain; the keys of what was lost. */
async function look(hooks?: RpcHooks): Promise<string[]> {
  const node = await rpcProxy(bench.chain.rpcUrl, hooks);
  const lost: string[] = [];
  const onLost = async ({ key }: JournalRow) => void lost.push(key);
  await followMined({ chain: await bench.chain.connect({ rpcUrl: node.url }), journal: bench.journal, now: () => new Date(), onLost });
  await node.close();
  return lost;
}

async function lose(keys: string[]): Promise<{ wallet: Awaited<ReturnType<WalletBench['wallet']>>; to: `0x${string}` }> {
  const { account } = await bench.newAccount();
  const wallet = await bench.wallet(account);
  const to = freshAddress();
  const revert = await bench.chain.snapshot();
  for (const key of keys) await wallet.send({ key, to, data: '0x', value: 1n });
  await revert();
  await bench.chain.mine(keys.length);
  return { wallet, to };
}

describe('a mined transaction', () => {
  it('that a reorganisation took off the chain is open again, and is mined once', async () => {
    const { wallet, to } = await lose(['one', 'two']);
    expect(await look()).toEqual(['one', 'two']);
    expect(await look()).toEqual([]);
    for (const row of await bench.journal.listLost(84532)) await wallet.resume(row);
    const [one, two] = [await rowOf('one'), await rowOf('two')];
    for (const row of [one, two]) await wallet.resume(row);
    for (const key of ['one', 'two']) expect(await rowOf(key)).toMatchObject({ state: 'CONFIRMED', isWatched: true });
    await wallet.send({ key: 'one', to, data: '0x', value: 1n });
    expect(await bench.balance(to)).toBe(2n);
  });

  it('is handled after a crash between the journal and what follows from it', async () => {
    await lose(['crashed']);
    const failing = followMined({
      ...{ chain: await bench.chain.connect(), journal: bench.journal, now: () => new Date() },
      onLost: async () => Promise.reject(new Error('killed')),
    });
    await expect(failing).rejects.toThrow('killed');
    expect(await look()).toEqual(['crashed']);
    expect(await look()).toEqual([]);
  });

  it.each<[string, RpcHooks]>([
    ['is behind', { onRequest: ({ method }) => (method === 'eth_blockNumber' ? { result: '0x1' } : undefined) }],
    [
      'does not have its block',
      {
        onRequest: ({ method, params }) => (method === 'eth_getBlockByNumber' && params[0] !== 'finalized' ? { result: null } : undefined),
      },
    ],
  ])('is not lost because a node %s', async (_, hooks) => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account);
    const key = `kept ${account.address}`;
    await wallet.send({ key, to: freshAddress(), data: '0x' });
    await look(hooks).catch(({ code }) => expect(code).toBe('CHAIN_UNREACHABLE'));
    expect(await rowOf(key)).toMatchObject({ state: 'CONFIRMED', isWatched: true });
  });

  it('is watched until its block is final, and costs three requests meanwhile', async () => {
    const { account } = await bench.newAccount();
    await (await bench.wallet(account)).send({ key: 'final', to: freshAddress(), data: '0x' });
    const node = await rpcProxy(bench.chain.rpcUrl);
    const chain = await bench.chain.connect({ rpcUrl: node.url });
    const follow = () => followMined({ chain, journal: bench.journal, now: () => new Date(), onLost: async () => undefined });
    node.counts.clear();
    await follow();
    expect([...node.counts.values()].reduce((sum, count) => sum + count, 0)).toBe(3);
    expect((await rowOf('final')).isWatched).toBe(true);
    await bench.chain.mine(70);
    await (await bench.wallet(account)).send({ key: 'later', to: freshAddress(), data: '0x' });
    await follow();
    expect((await rowOf('final')).isWatched).toBeUndefined();
    expect((await rowOf('later')).isWatched).toBe(true);
    await node.close();
  });
});

describe('the final block', () => {
  const without = (...tags: string[]): RpcHooks => ({
    onRequest: ({ method, params }) =>
      method === 'eth_getBlockByNumber' && tags.includes(String(params[0]))
        ? { error: { code: -32602, message: 'unknown tag' } }
        : undefined,
  });

  it.each([
    [[], 64],
    [['finalized'], 32],
    [['finalized', 'safe'], 7],
  ])('without the tags %j lies %i blocks behind the newest', async (tags, depth) => {
    const node = await rpcProxy(bench.chain.rpcUrl, without(...tags));
    const chain = await bench.chain.connect({ rpcUrl: node.url, finalityBlocks: 7 });
    await bench.chain.mine(70);
    const newest = Number(await bench.chain.rpc('eth_blockNumber'));
    expect(newest - (await readFinalBlockNumber(chain))).toBe(depth);
    await node.close();
  });

  it.each<[string, Interference]>([
    ['errs', { error: { code: -32_603, message: 'internal error' } }],
    ['refuses for its rate', { error: { code: -32_005, message: 'limit exceeded' } }],
    ['breaks the connection', 'drop'],
  ])('is not a less final one where the endpoint %s', async (_, interference) => {
    const isAsked = ({ method, params }: RpcCall) => method === 'eth_getBlockByNumber' && params[0] === 'finalized';
    const node = await rpcProxy(bench.chain.rpcUrl, { onRequest: (call) => (isAsked(call) ? interference : undefined) });
    const chain = await bench.chain.connect({ rpcUrl: node.url });
    await expect(readFinalBlockNumber(chain)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    await node.close();
  });
});
