import { isAddressEqual, type Transaction } from 'viem';
import { chainCall } from '../rpc/chain-call.ts';
import type { WalletContext } from './context.ts';
import type { JournalRow } from './journal.ts';

/** Blocks that a reorganisation may have moved our transaction ahead of where it was signed. */
const REORG_MARGIN = 64;

/**
 * The transaction beside a row's own that took its nonce, to the confirmation depth; null where there is none. Neither a missing receipt
 * nor a count is proof: an endpoint behind a load balancer may lag, and a node that is mining may count for a block what is in the next
 * one. Only the other transaction itself is, in the block that the counts lead to; where it is not found, nothing is known yet.
 * @throws OracleError CHAIN_UNREACHABLE when the endpoint has no state of those blocks.
 */
export async function findDisplacingTransaction(context: WalletContext, row: JournalRow): Promise<Transaction | null> {
  const { client, confirmations } = context.chain;
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  const deepest = Number(head) - (confirmations - 1);
  if (deepest < 0 || !(await isNonceUsedAt(context, row, deepest))) return null;
  const low = Math.max(0, Math.min(row.signedFromBlock - REORG_MARGIN, deepest));
  const block = await findFirstBlockWhere((number) => isNonceUsedAt(context, row, number), low, deepest);
  const spender = await findTransactionByNonce(context, row, block);
  return spender === undefined || row.attempts.some(({ hash }) => hash === spender.hash) ? null : spender;
}

/** Whether it is a row's call, signed at another time: after the backup was made that the database was restored from. */
export function isSameCall({ to, input, value }: Transaction, row: JournalRow): boolean {
  // What a caller brings, such as a signature, may be in capitals.
  const sameData = input.toLowerCase() === row.data.toLowerCase();
  return to !== null && isAddressEqual(to, row.to) && sameData && value === BigInt(row.value);
}

async function isNonceUsedAt({ chain, account }: WalletContext, { nonce }: JournalRow, blockNumber: number): Promise<boolean> {
  const query = { address: account.address, blockNumber: BigInt(blockNumber) };
  return (await chainCall('Reading an earlier nonce', () => chain.client.getTransactionCount(query))) > nonce;
}

/** The transaction of a block that used the nonce. */
async function findTransactionByNonce(
  { chain, account }: WalletContext,
  { nonce }: JournalRow,
  blockNumber: number,
): Promise<Transaction | undefined> {
  const query = { blockNumber: BigInt(blockNumber), includeTransactions: true } as const;
  const { transactions } = await chainCall('Reading a block', () => chain.client.getBlock(query));
  return transactions.find((sent) => isAddressEqual(sent.from, account.address) && sent.nonce === nonce);
}

/** Bisection: the first number from `low` to `high` for which `test` holds, given that it holds for `high`. */
async function findFirstBlockWhere(test: (number: number) => Promise<boolean>, low: number, high: number): Promise<number> {
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await test(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}
