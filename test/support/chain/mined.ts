import { setTimeout as delay } from 'node:timers/promises';
import { type Hex, type PublicClient, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem';

/**
 * Waits for a receipt. viem's own wait looks once a block: where a node announces the block before its receipts, and no further block
 * comes, that look was the last.
 */
export async function waitForReceipt(client: Pick<PublicClient, 'getTransactionReceipt'>, hash: Hex): Promise<TransactionReceipt> {
  for (;;) {
    const receipt = await client.getTransactionReceipt({ hash }).catch(nullIfNotFound);
    if (receipt !== null) return receipt;
    await delay(5);
  }
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof TransactionReceiptNotFoundError) return null;
  throw error;
}
