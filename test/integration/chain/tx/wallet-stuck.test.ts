import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JournalRow } from '../../../../src/chain/journal.ts';
import { rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { accountOfSigner } from '../../../support/signers/failing-account.ts';
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
const signatures = async (key: string) => (await bench.journal.find(`84532:attester:${key}`))?.attempts.length ?? 0;
/** A node that takes transactions and puts none into a block, until its hooks are removed. */
const fullNode = () =>
  rpcProxy(bench.chain.rpcUrl, { onRequest: ({ method }) => (method === 'eth_sendRawTransaction' ? { result: '0x' } : undefined) });
const inPool = async (hash: Hex) => (await bench.chain.rpc('eth_getTransactionByHash', hash)) !== null;

describe('a stuck transaction', () => {
  it('is replaced under the same nonce with both fees raised by at least an eighth, once blocks have passed without it', async () => {
    const { account } = await bench.newAccount();
    const node = await fullNode();
    const wallet = await bench.wallet(account, { stuckAfterMs: 200, chain: { rpcUrl: node.url } });
    const to = freshAddress();
    const sending = wallet.send({ key: 'stuck', to, data: '0x', value: 1n });
    await until(async () => (await signatures('stuck')) === 1, 'signed');
    await bench.chain.mine(2);
    await until(async () => (await signatures('stuck')) >= 2, 'replaced');
    const [first, second] = (await rowOf('stuck')).attempts;
    for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
      expect(BigInt(second[fee]) * 8n).toBeGreaterThanOrEqual(BigInt(first[fee]) * 9n);
    }
    node.hooks = {};
    const sent = await sending;
    expect(sent.nonce).toBe(0);
    expect(await bench.mined(account.address)).toEqual([sent.hash]);
    expect(await bench.balance(to)).toBe(1n);
    await node.close();
  });

  it('is replaced also when an earlier version had signed it, which noted no block', async () => {
    const { account } = await bench.newAccount();
    const node = await fullNode();
    const wallet = await bench.wallet(account, { stuckAfterMs: 200, chain: { rpcUrl: node.url } });
    const sending = wallet.send({ key: 'earlier', to: freshAddress(), data: '0x' });
    await until(async () => (await signatures('earlier')) === 1, 'signed');
    await bench.rows.updateOne({ key: 'earlier' }, { $unset: { 'attempts.0.atBlock': 1 } });
    await bench.chain.mine(2);
    await until(async () => (await signatures('earlier')) >= 2, 'replaced');
    node.hooks = {};
    await sending;
    await node.close();
  });

  it('is neither replaced nor outbid while no block comes', async () => {
    const { account } = await bench.newAccount();
    const node = await rpcProxy(bench.chain.rpcUrl);
    const wallet = await bench.wallet(account, { stuckAfterMs: 1, chain: { rpcUrl: node.url } });
    await bench.chain.automine(false);
    const sending = wallet.send({ key: 'standstill', to: freshAddress(), data: '0x' });
    const broadcasts = () => node.counts.get('eth_sendRawTransaction') ?? 0;
    await until(() => broadcasts() >= 6, 'sent again and again');
    expect(await signatures('standstill')).toBe(1);
    await bench.chain.mine();
    await sending;
    await node.close();
  });

  it('costs one request a poll, however often it was signed', async () => {
    const { account } = await bench.newAccount();
    const node = await fullNode();
    const wallet = await bench.wallet(account, { stuckAfterMs: 1, chain: { rpcUrl: node.url } });
    const sending = wallet.send({ key: 'often', to: freshAddress(), data: '0x' });
    await until(async () => (await signatures('often')) === 1, 'signed');
    for (let times = 2; times <= 5; times += 1) {
      await bench.chain.mine(2);
      await until(async () => (await signatures('often')) >= times, `signed ${times} times`);
    }
    node.counts.clear();
    await until(() => (node.counts.get('eth_getTransactionCount') ?? 0) >= 10, 'polled');
    expect(node.counts.get('eth_getTransactionReceipt') ?? 0).toBe(0);
    node.hooks = {};
    await sending;
    await node.close();
  });

  it('is confirmed when its first signature is mined', async () => {
    const { account } = await bench.newAccount();
    const node = await fullNode();
    const wallet = await bench.wallet(account, { stuckAfterMs: 200, chain: { rpcUrl: node.url } });
    const sending = wallet.send({ key: 'old-wins', to: freshAddress(), data: '0x' });
    await until(async () => (await signatures('old-wins')) === 1, 'signed');
    await bench.chain.mine(2);
    await until(async () => (await signatures('old-wins')) >= 2, 'replaced');
    const [{ hash, raw }] = (await rowOf('old-wins')).attempts;
    await bench.chain.rpc('eth_sendRawTransaction', raw);
    expect((await sending).hash).toBe(hash);
    await node.close();
  });

  it('is waited for, not replaced, while its signer does not answer', async () => {
    const signer = accountOfSigner('attester', (await bench.newAccount()).account);
    const node = await fullNode();
    const wallet = await bench.wallet(signer.account, { stuckAfterMs: 50, chain: { rpcUrl: node.url } });
    const sending = wallet.send({ key: 'unsigned', to: freshAddress(), data: '0x' });
    await until(async () => (await signatures('unsigned')) === 1, 'signed');
    signer.isDown = true;
    await bench.chain.mine(2);
    await until(() => signer.refused > 0, 'a replacement was asked for');
    const { attempts } = await rowOf('unsigned');
    await bench.chain.rpc('eth_sendRawTransaction', attempts.at(-1)!.raw);
    expect((await sending).hash).toBe(attempts.at(-1)!.hash);
    await node.close();
  });

  it('is replaced immediately when its fee is below the base fee', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account, { stuckAfterMs: 60_000 });
    await bench.chain.automine(false);
    const sending = wallet.send({ key: 'outbid', to: freshAddress(), data: '0x' });
    await until(async () => (await signatures('outbid')) === 1 && (await inPool((await rowOf('outbid')).attempts[0].hash)), 'sent');
    const offered = BigInt((await rowOf('outbid')).attempts[0].maxFeePerGas);
    await bench.chain.rpc('anvil_setNextBlockBaseFeePerGas', `0x${(offered * 3n).toString(16)}`);
    await bench.chain.mine();
    await until(async () => (await signatures('outbid')) >= 2, 'replaced');
    const { attempts } = await rowOf('outbid');
    await until(() => inPool(attempts[1].hash), 'the replacement is with the node');
    await bench.chain.automine(true);
    await bench.chain.mine();
    expect((await sending).hash).toBe(attempts[1].hash);
  });

  it('is not replaced above the fee cap', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account, { stuckAfterMs: 50, timeoutMs: 900, feeCapWei: 10n ** 9n });
    await bench.chain.rpc('anvil_setNextBlockBaseFeePerGas', `0x${(10n ** 9n - 1n).toString(16)}`);
    await bench.chain.mine();
    await bench.chain.automine(false);
    await expect(wallet.send({ key: 'capped', to: freshAddress(), data: '0x' })).rejects.toMatchObject({ code: 'TRANSACTION_UNCONFIRMED' });
    const { attempts } = await rowOf('capped');
    expect(attempts.every(({ maxFeePerGas }) => BigInt(maxFeePerGas) <= 10n ** 9n)).toBe(true);
  });

  it('is rebroadcast when the node dropped it', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account);
    await bench.chain.automine(false);
    const sending = wallet.send({ key: 'dropped', to: freshAddress(), data: '0x' });
    await until(async () => (await signatures('dropped')) === 1 && (await inPool((await rowOf('dropped')).attempts[0].hash)), 'sent');
    const [{ hash }] = (await rowOf('dropped')).attempts;
    await bench.chain.rpc('anvil_dropTransaction', hash);
    expect(await inPool(hash)).toBe(false);
    await until(() => inPool(hash), 'sent again');
    await bench.chain.mine();
    expect((await sending).hash).toBe(hash);
  });
});
