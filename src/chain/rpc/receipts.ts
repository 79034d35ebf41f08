import { type Hash, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem';
import type { ChainReader } from './blocks.ts';
import { chainCall } from './chain-call.ts';

/** Receipt of a mined transaction, or null. @param what names the read in an error message @throws OracleError CHAIN_UNREACHABLE */
export function findReceipt({ client }: ChainReader, hash: Hash, what = 'Reading a receipt'): Promise<TransactionReceipt | null> {
  return chainCall(what, async () => {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    }
  });
}
