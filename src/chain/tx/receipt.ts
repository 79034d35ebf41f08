import { formatTransactionReceipt, type Hex, numberToHex, type RpcTransactionReceipt, type TransactionReceipt } from 'viem';
import { chainCall } from '../rpc/chain-call.ts';
import type { WalletContext } from './context.ts';
import type { JournalRow, JournalState, StoredReceipt } from './journal.ts';

/** `unseen`: in no block. `shallow`: in a block above the confirmation depth, or no longer canonical. */
export type InclusionStatus = { at: 'unseen' | 'shallow' } | { at: 'depth'; state: JournalState; receipt: StoredReceipt };

/** OP Stack receipts include the fee for data on the parent chain. */
type RollupReceipt = RpcTransactionReceipt & { l1Fee?: unknown };

/** `l1Fee` in wei; 0 on a chain without one. */
type MinedReceipt = TransactionReceipt & { l1Fee: bigint };

/** Looks up a row's transactions on chain; at most one can be mined, since they share a nonce. */
export async function readInclusion(context: WalletContext, row: JournalRow): Promise<InclusionStatus> {
  const receipts = await Promise.all(row.attempts.map((attempt) => readReceipt(context, attempt.hash)));
  const receipt = receipts.find((found) => found !== null);
  if (!receipt) return { at: 'unseen' };
  return (await readConfirmedReceipt(context, receipt)) ?? { at: 'shallow' };
}

async function readReceipt({ chain }: WalletContext, hash: Hex): Promise<MinedReceipt | null> {
  const receipt = await chainCall('Reading a receipt', () =>
    chain.client.request<{ Method: 'eth_getTransactionReceipt'; Parameters: [Hex]; ReturnType: RollupReceipt | null }>({
      method: 'eth_getTransactionReceipt',
      params: [hash],
    }),
  );
  // Some nodes return a receipt of the pending block.
  if (!receipt?.blockHash) return null;
  return { ...formatTransactionReceipt(receipt), l1Fee: parseL1Fee(receipt.l1Fee) };
}

/** Lenient: an invalid cost figure must not hide a mined transaction. */
function parseL1Fee(l1Fee: unknown): bigint {
  return typeof l1Fee === 'string' && /^0x[\da-f]{1,64}$/i.test(l1Fee) ? BigInt(l1Fee) : 0n;
}

/** Reads the height before the block, so that a reorganisation in between cannot overstate the depth of a canonical block. */
async function readConfirmedReceipt({ chain }: WalletContext, receipt: MinedReceipt): Promise<InclusionStatus | null> {
  const { blockNumber, blockHash } = receipt;
  const { client, confirmations } = chain;
  const state = receipt.status === 'success' ? 'CONFIRMED' : 'REVERTED';
  const timestamp = readBlockTime(receipt);
  if (confirmations <= 1 && timestamp !== null) return { at: 'depth', state, receipt: toStoredReceipt(receipt, timestamp) };
  const block = await chainCall('Reading the block of a transaction', async () => {
    const head = confirmations > 1 ? await client.getBlockNumber() : blockNumber;
    if (head - blockNumber + 1n < confirmations) return null;
    return client.request({ method: 'eth_getBlockByNumber', params: [numberToHex(blockNumber), false] });
  });
  if (block?.hash !== blockHash) return null;
  return { at: 'depth', state, receipt: toStoredReceipt(receipt, Number(block.timestamp)) };
}

/** Seconds; null for a receipt without logs, and of a node that gives logs without the time of their block. */
function readBlockTime({ logs }: MinedReceipt): number | null {
  const time: unknown = logs[0]?.blockTimestamp;
  return typeof time === 'bigint' ? Number(time) : null;
}

function toStoredReceipt(receipt: MinedReceipt, timestamp: number): StoredReceipt {
  return {
    hash: receipt.transactionHash,
    blockNumber: Number(receipt.blockNumber),
    blockHash: receipt.blockHash,
    at: new Date(timestamp * 1000),
    gasUsed: Number(receipt.gasUsed),
    effectiveGasPrice: String(receipt.effectiveGasPrice),
    ...(receipt.l1Fee === 0n ? {} : { l1FeeWei: String(receipt.l1Fee) }),
    logs: receipt.logs.map(({ address, topics, data }) => ({ address, topics, data })),
  };
}
