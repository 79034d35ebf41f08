import type { TransactionReceipt } from 'viem';
import type { Chain } from '../client.ts';
import { chainCall } from './chain-call.ts';

/** How deep the block of a transaction is. */
export interface BlockDepth {
  /** Blocks on top of it, its own included; 0 for a block that is not canonical any more. */
  confirmations: number;
  /** Time of the block; null until it stands at the confirmation depth of the chain. */
  settledAt: Date | null;
}

/** The height is read before the block: one that is canonical afterwards is as deep as that. @throws OracleError CHAIN_UNREACHABLE */
export async function readBlockDepth(
  { client, confirmations }: Pick<Chain, 'client' | 'confirmations'>,
  { blockNumber, blockHash }: Pick<TransactionReceipt, 'blockNumber' | 'blockHash'>,
): Promise<BlockDepth> {
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  const depth = Math.max(0, Number(head - blockNumber) + 1);
  if (depth < confirmations) return { confirmations: depth, settledAt: null };
  const block = await chainCall('Reading the block of a payment', () => client.getBlock({ blockNumber }));
  if (block.hash !== blockHash) return { confirmations: 0, settledAt: null };
  return { confirmations: depth, settledAt: new Date(Number(block.timestamp) * 1_000) };
}
