import { isAddressEqual, type Transaction } from 'viem';
import { findFirstBlockWhere } from '../rpc/block-by-time.ts';
import { REORG_MARGIN_BLOCKS, readConfirmedBlockNumber } from '../rpc/block-depth.ts';
import { chainCall } from '../rpc/chain-call.ts';
import type { WalletContext } from './context.ts';
import type { JournalRow } from './journal.ts';

/**
 * Null without proof: only the other transaction itself is one, in the block that the nonce counts lead to. A missing receipt is not, since
 * an endpoint may lag; nor a count, since a mining node may attribute a transaction to the previous block. @throws CHAIN_UNREACHABLE
 */
export async function findDisplacingTransaction(context: WalletContext, row: JournalRow): Promise<Transaction | null> {
  const deepest = await readConfirmedBlockNumber(context.chain);
  if (deepest < 0n || !(await isNonceUsedAt(context, row, deepest))) return null;
  const earliest = BigInt(Math.max(0, row.signedFromBlock - REORG_MARGIN_BLOCKS));
  const low = earliest < deepest ? earliest : deepest;
  const block = await findFirstBlockWhere((blockNumber) => isNonceUsedAt(context, row, blockNumber), low, deepest);
  const spender = await findTransactionByNonce(context, row, block);
  return spender === undefined || row.attempts.some(({ hash }) => hash === spender.hash) ? null : spender;
}

/** Whether a transaction is a row's call under another signature: made after the backup that the database was restored from. */
export function isSameCall({ to, input, value }: Transaction, row: JournalRow): boolean {
  // Client input such as a signature may be in upper case.
  const sameData = input.toLowerCase() === row.data.toLowerCase();
  return to !== null && isAddressEqual(to, row.to) && sameData && value === BigInt(row.value);
}

async function isNonceUsedAt({ chain, account }: WalletContext, { nonce }: JournalRow, blockNumber: bigint): Promise<boolean> {
  const query = { address: account.address, blockNumber };
  return (await chainCall('Reading an earlier nonce', () => chain.client.getTransactionCount(query))) > nonce;
}

async function findTransactionByNonce(
  { chain, account }: WalletContext,
  { nonce }: JournalRow,
  blockNumber: bigint,
): Promise<Transaction | undefined> {
  const query = { blockNumber, includeTransactions: true } as const;
  const { transactions } = await chainCall('Reading a block', () => chain.client.getBlock(query));
  return transactions.find((sent) => isAddressEqual(sent.from, account.address) && sent.nonce === nonce);
}
