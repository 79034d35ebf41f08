import { type Hex, isAddressEqual } from 'viem';
import type { JournalRow } from '../journal.ts';
import { chainCall } from '../rpc-error.ts';
import type { WalletContext } from './context.ts';

/** Blocks that a reorganisation may have moved our transaction ahead of where it was signed. */
const REORG_MARGIN = 64;

/**
 * Whether a row's nonce went to a transaction that is not ours, to the confirmation depth. Neither a missing receipt nor a count is
 * proof: an endpoint behind a load balancer may lag, and a node that is mining may count for a block what is in the next one. Only the
 * other transaction itself is, in the block that the counts lead to; where it is not found, nothing is known yet.
 * @throws OracleError CHAIN_UNREACHABLE when the endpoint has no state of those blocks.
 */
export async function takenByOther(context: WalletContext, row: JournalRow): Promise<boolean> {
  const { client, confirmations } = context.chain;
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  const deepest = Number(head) - (confirmations - 1);
  if (deepest < 0 || !(await usedAt(context, row, deepest))) return false;
  const low = Math.max(0, Math.min(row.signedFromBlock - REORG_MARGIN, deepest));
  const block = await firstBlockWith((number) => usedAt(context, row, number), low, deepest);
  const hash = await spenderOf(context, row, block);
  return hash !== undefined && row.attempts.every((attempt) => attempt.hash !== hash);
}

async function usedAt({ chain, account }: WalletContext, { nonce }: JournalRow, blockNumber: number): Promise<boolean> {
  const query = { address: account.address, blockNumber: BigInt(blockNumber) };
  return (await chainCall('Reading an earlier nonce', () => chain.client.getTransactionCount(query))) > nonce;
}

/** The transaction of a block that used the nonce. */
async function spenderOf({ chain, account }: WalletContext, { nonce }: JournalRow, blockNumber: number): Promise<Hex | undefined> {
  const query = { blockNumber: BigInt(blockNumber), includeTransactions: true } as const;
  const { transactions } = await chainCall('Reading a block', () => chain.client.getBlock(query));
  return transactions.find((sent) => isAddressEqual(sent.from, account.address) && sent.nonce === nonce)?.hash;
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
