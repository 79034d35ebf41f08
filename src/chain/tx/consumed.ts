import type { Hex } from 'viem';
import type { JournalRow } from '../journal.ts';
import { chainCall } from '../rpc-error.ts';
import type { WalletContext } from './context.ts';

/** Blocks that a reorganisation may have moved our transaction ahead of where it was signed. */
const REORG_MARGIN = 64;

/**
 * Whether a row's nonce went to a transaction that is not ours, to the confirmation depth. A missing receipt is no proof, since
 * an endpoint behind a load balancer may lag: this finds the block in which the nonce was used and looks into it.
 * @throws OracleError CHAIN_UNREACHABLE when the endpoint has no state of those blocks.
 */
export async function takenByOther(context: WalletContext, row: JournalRow): Promise<boolean> {
  const { client, confirmations } = context.chain;
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  const deepest = Number(head) - (confirmations - 1);
  if (deepest < 0 || !(await usedAt(context, row, deepest))) return false;
  const low = Math.max(0, Math.min(row.signedFromBlock - REORG_MARGIN, deepest));
  const block = await firstBlockWith((number) => usedAt(context, row, number), low, deepest);
  const hashes = await transactionsOf(context, block);
  return !row.attempts.some((attempt) => hashes.includes(attempt.hash));
}

async function usedAt({ chain, account }: WalletContext, { nonce }: JournalRow, blockNumber: number): Promise<boolean> {
  const query = { address: account.address, blockNumber: BigInt(blockNumber) };
  return (await chainCall('Reading an earlier nonce', () => chain.client.getTransactionCount(query))) > nonce;
}

async function transactionsOf({ chain }: WalletContext, blockNumber: number): Promise<readonly Hex[]> {
  const query = { blockNumber: BigInt(blockNumber), includeTransactions: false } as const;
  return (await chainCall('Reading a block', () => chain.client.getBlock(query))).transactions;
}

/** Bisection: the first number from `low` to `high` for which `test` holds, given that it holds for `high`. */
async function firstBlockWith(test: (number: number) => Promise<boolean>, low: number, high: number): Promise<number> {
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await test(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}
