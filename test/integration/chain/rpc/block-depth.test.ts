import { type TransactionReceipt, zeroHash } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chain, readBlockDepth } from '../../../../src/chain/client.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';

let chain: TestChain;
let deep: Chain;
let receipt: TransactionReceipt;

beforeAll(async () => {
  chain = await testChain();
  deep = { ...(await chain.connect()), confirmations: 3 };
  const { transactions } = await deep.client.getBlock({ blockTag: 'latest' });
  receipt = await deep.client.getTransactionReceipt({ hash: transactions[0] });
});
afterAll(() => chain.stop());

describe('readBlockDepth', () => {
  it('returns the block time at the confirmation depth and not before', async () => {
    expect(await readBlockDepth(deep, receipt)).toEqual({ confirmations: 1, settledAt: null });
    await chain.rpc('anvil_mine', '0x1');
    expect(await readBlockDepth(deep, receipt)).toEqual({ confirmations: 2, settledAt: null });
    await chain.rpc('anvil_mine', '0x1');
    const { timestamp } = await deep.client.getBlock({ blockNumber: receipt.blockNumber });
    expect(await readBlockDepth(deep, receipt)).toEqual({ confirmations: 3, settledAt: new Date(Number(timestamp) * 1_000) });
  });

  it('returns no confirmation for a reorganised block, nor for one that the node does not know yet', async () => {
    await chain.rpc('anvil_mine', '0x3');
    expect(await readBlockDepth(deep, { ...receipt, blockHash: zeroHash })).toEqual({ confirmations: 0, settledAt: null });
    const ahead = { ...receipt, blockNumber: receipt.blockNumber + 1_000n };
    expect(await readBlockDepth(deep, ahead)).toEqual({ confirmations: 0, settledAt: null });
  });
});
