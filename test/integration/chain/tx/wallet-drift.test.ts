import { type Hex, keccak256, type LocalAccount, numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JournalRow } from '../../../../src/chain/journal.ts';
import { OracleError } from '../../../../src/errors.ts';
import { rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { freshAddress, startWalletBench, until, type WalletBench } from './wallet-bench.ts';

let bench: WalletBench;
beforeAll(async () => {
  bench = await startWalletBench();
});
afterAll(() => bench.stop());
afterEach(async () => {
  await bench.chain.automine(true);
  await bench.chain.mine();
});

const rowOf = async (key: string) => (await bench.journal.find(`84532:attester:${key}`)) as JournalRow;

/** What somebody else does who has the same key. */
async function sendElsewhere(account: LocalAccount, nonce: number): Promise<Hex> {
  const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };
  const raw = await account.signTransaction({ type: 'eip1559', chainId: 84532, nonce, to: freshAddress(), gas: 21_000n, ...fees });
  return bench.chain.rpc<Hex>('eth_sendRawTransaction', raw);
}

/** An endpoint on which somebody else is faster by a moment, once. */
function raceFor(account: LocalAccount, nonce: number) {
  let lost = false;
  return rpcProxy(bench.chain.rpcUrl, {
    onRequest: async ({ method }) => {
      if (method !== 'eth_sendRawTransaction' || lost) return undefined;
      lost = true;
      await sendElsewhere(account, nonce);
      return undefined;
    },
  });
}

describe('a nonce that a foreign transaction used', () => {
  it('is replaced by the next nonce', async () => {
    const { account } = await bench.newAccount();
    const proxy = await raceFor(account, 0);
    const wallet = await bench.wallet(account, { chain: { rpcUrl: proxy.url } });
    const to = freshAddress();
    const sent = await wallet.send({ key: 'displaced', to, data: '0x', value: 1n });
    expect(sent.nonce).toBe(1);
    expect(await bench.balance(to)).toBe(1n);
    expect((await rowOf('displaced')).displaced).toMatchObject([{ nonce: 0 }]);
    expect(await bench.mined(account.address)).toHaveLength(2);
    await proxy.close();
  });

  it('is replaced only after the confirmation depth of that transaction', async () => {
    const { account } = await bench.newAccount();
    const proxy = await raceFor(account, 0);
    const wallet = await bench.wallet(account, { chain: { rpcUrl: proxy.url, confirmations: 3 } });
    const sending = wallet.send({ key: 'patient', to: freshAddress(), data: '0x' });
    await until(async () => (await bench.mined(account.address)).length === 1, 'taken');
    await new Promise((pause) => setTimeout(pause, 600));
    expect((await rowOf('patient')).nonce).toBe(0);
    await bench.chain.mine(2);
    await until(async () => (await rowOf('patient')).nonce === 1, 'moved');
    await until(async () => (await bench.mined(account.address)).length === 2, 'mined');
    await bench.chain.mine(2);
    expect((await sending).nonce).toBe(1);
    await proxy.close();
  });

  it("is kept while the wallet's own transaction may have used it, despite a lagging endpoint", async () => {
    const { account } = await bench.newAccount();
    const proxy = await rpcProxy(bench.chain.rpcUrl);
    const lagging = {
      onRequest: ({ method }: { method: string }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined),
    };
    proxy.hooks = lagging;
    const wallet = await bench.wallet(account, { chain: { rpcUrl: proxy.url } });
    const sending = wallet.send({ key: 'lag', to: freshAddress(), data: '0x' });
    await new Promise((pause) => setTimeout(pause, 900));
    proxy.hooks = {};
    expect((await sending).nonce).toBe(0);
    expect(await bench.mined(account.address)).toHaveLength(1);
    await proxy.close();
  });

  it('is kept when a mining node counts a transaction for the previous block', async () => {
    const { account } = await bench.newAccount();
    const proxy = await rpcProxy(bench.chain.rpcUrl);
    const mining = {
      onRequest: ({ method }: { method: string }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined),
      onResponse: async ({ method }: { method: string }, result: unknown) => {
        if (method === 'eth_blockNumber') return { result: numberToHex(Number(result) - 1) };
        if (method !== 'eth_getTransactionCount') return undefined;
        return { result: await bench.chain.rpc<Hex>('eth_getTransactionCount', account.address, 'latest') };
      },
    };
    const wallet = await bench.wallet(account, { chain: { rpcUrl: proxy.url } });
    proxy.hooks = mining;
    const sending = wallet.send({ key: 'mining', to: freshAddress(), data: '0x' });
    await until(async () => (await bench.mined(account.address)).length === 1, 'mined');
    const looks = () => proxy.counts.get('eth_getBlockByNumber') ?? 0;
    const before = looks();
    await until(() => looks() > before + 3, 'looked into the block');
    proxy.hooks = {};
    expect((await sending).nonce).toBe(0);
    expect((await rowOf('mining')).displaced).toEqual([]);
    expect(await bench.mined(account.address)).toHaveLength(1);
    await proxy.close();
  });

  it('is skipped when it is known beforehand', async () => {
    const { account } = await bench.newAccount();
    await sendElsewhere(account, 0);
    expect((await (await bench.wallet(account)).send({ key: 'known', to: freshAddress(), data: '0x' })).nonce).toBe(1);
  });
});

describe('a nonce used by a replacement of the same call that a restored database has lost', () => {
  it('is adopted as that call, comparing data case-insensitively, without a new signature', async () => {
    const { account } = await bench.newAccount();
    const to = freshAddress();
    const call = { key: 'restored', to, data: '0xAbCd', value: 1n } as const;
    const sent = await (await bench.wallet(account)).send(call);
    const row = await rowOf('restored');
    const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
    const raw = await account.signTransaction({ type: 'eip1559', chainId: 84532, nonce: 0, gas: BigInt(row.gas), ...fees, ...call });
    const forgotten = {
      hash: keccak256(raw),
      raw,
      maxFeePerGas: '2',
      maxPriorityFeePerGas: '1',
      signedAt: row.createdAt,
      atBlock: row.signedFromBlock,
    };
    await bench.rows.updateOne({ _id: row._id }, { $set: { state: 'SENT', receipt: null, attempts: [forgotten] } });

    expect(await (await bench.wallet(account)).send(call)).toEqual(sent);
    expect(await bench.mined(account.address)).toEqual([sent.hash]);
    expect(await bench.balance(to)).toBe(1n);
    // What would be broadcast again after a reorganisation is what there is a signature of.
    expect((await rowOf('restored')).attempts.map(({ hash }) => hash)).toEqual([sent.hash, forgotten.hash]);
  });
});

describe('allowForeignTransactions', () => {
  const refusing = (asked: (number | undefined)[]) => async (afterBlock?: number) => {
    asked.push(afterBlock);
    throw new OracleError('CONFIG_INVALID', 'not behind those');
  };

  it("is called before signing after a foreign transaction, and never after the wallet's own", async () => {
    const { account } = await bench.newAccount();
    const asked: (number | undefined)[] = [];
    const wallet = await bench.wallet(account, { allowForeignTransactions: refusing(asked) });
    for (const key of ['own:1', 'own:2']) await wallet.send({ key, to: freshAddress(), data: '0x' });
    expect(asked).toEqual([]);
    await sendElsewhere(account, 2);
    await until(async () => (await bench.mined(account.address)).length === 3, 'mined');
    await expect(wallet.send({ key: 'behind', to: freshAddress(), data: '0x' })).rejects.toThrow('not behind those');
    expect(asked).toEqual([undefined]);
    expect(await rowOf('behind')).toBeNull();
    expect(await bench.mined(account.address)).toHaveLength(3);
  });

  it('is called before a row moves to a nonce after a foreign transaction', async () => {
    const { account } = await bench.newAccount();
    const proxy = await raceFor(account, 0);
    const asked: (number | undefined)[] = [];
    const wallet = await bench.wallet(account, { chain: { rpcUrl: proxy.url }, allowForeignTransactions: refusing(asked) });
    await expect(wallet.send({ key: 'lost', to: freshAddress(), data: '0x' })).rejects.toThrow('not behind those');
    const row = await rowOf('lost');
    expect([asked, row.nonce]).toEqual([[row.signedFromBlock], 0]);
    expect(await bench.mined(account.address)).toHaveLength(1);
    await proxy.close();
  });
});

describe('a reorganisation', () => {
  it('above the confirmation depth: the transaction is mined again', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account, { chain: { confirmations: 3 } });
    const to = freshAddress();
    const sending = wallet.send({ key: 'reorganised', to, data: '0x', value: 1n });
    await until(async () => (await bench.mined(account.address)).length === 1, 'mined');
    await bench.chain.automine(false);
    await bench.chain.rpc('anvil_reorg', 1, []);
    expect(await bench.mined(account.address)).toEqual([]);
    await bench.chain.mine();
    await bench.chain.automine(true);
    await until(async () => (await bench.mined(account.address)).length === 1, 'mined again');
    await bench.chain.mine(2);
    expect((await sending).nonce).toBe(0);
    expect(await bench.balance(to)).toBe(1n);
  });

  it('that drops an earlier transaction: the nonce gap is filled', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account, { stuckAfterMs: 300 });
    await sendElsewhere(account, 0);
    await bench.chain.automine(false);
    const sending = wallet.send({ key: 'orphan', to: freshAddress(), data: '0x' });
    await until(async () => (await rowOf('orphan'))?.nonce === 1, 'reserved');
    await bench.chain.rpc('anvil_reorg', 1, []);
    await bench.chain.automine(true);
    expect((await sending).nonce).toBe(1);
    expect(await bench.mined(account.address)).toHaveLength(2);
    expect(await rowOf('fill:0')).toMatchObject({ state: 'FILLER', nonce: 0, to: account.address, value: '0' });
  });
});
