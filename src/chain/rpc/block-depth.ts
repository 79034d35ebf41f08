import type { TransactionReceipt } from 'viem';
import type { Chain } from '../client.ts';
import { readBlockNumber, readBlockTime, toBlockTime } from './blocks.ts';
import { chainCall } from './chain-call.ts';

/** Blocks by which a reorganisation may move a transaction ahead of the block that its search starts from. */
export const REORG_MARGIN_BLOCKS = 64;

type DepthReader = Pick<Chain, 'client' | 'confirmations'>;

/** A block at the confirmation depth: reads up to it are final. */
export interface ConfirmedBlock {
  number: bigint;
  at: Date;
}

export interface BlockDepth {
  /** Depth of the block, its own included; 0 once it is no longer canonical. */
  confirmations: number;
  /** Block time; null below the chain's confirmation depth. */
  settledAt: Date | null;
}

/** Number of the newest block at the confirmation depth; negative on a shorter chain. @throws OracleError CHAIN_UNREACHABLE */
export async function readConfirmedBlockNumber(chain: DepthReader): Promise<bigint> {
  return (await readBlockNumber(chain)) - BigInt(chain.confirmations - 1);
}

/** The newest block at the confirmation depth; null on a shorter chain. @throws OracleError CHAIN_UNREACHABLE */
export async function readConfirmedBlock(chain: DepthReader): Promise<ConfirmedBlock | null> {
  const number = await readConfirmedBlockNumber(chain);
  return number < 0n ? null : { number, at: await readBlockTime(chain, number) };
}

/**
 * The height is read before the block: a reorganisation in between cannot overstate the depth. @throws OracleError CHAIN_UNREACHABLE
 * @param height read before, such as together with the receipt; an older one understates the depth
 */
export async function readBlockDepth(
  chain: DepthReader,
  { blockNumber, blockHash }: Pick<TransactionReceipt, 'blockNumber' | 'blockHash'>,
  height?: bigint,
): Promise<BlockDepth> {
  const depth = Math.max(0, Number((height ?? (await readBlockNumber(chain))) - blockNumber) + 1);
  if (depth < chain.confirmations) return { confirmations: depth, settledAt: null };
  const block = await chainCall('Reading the block of a payment', () => chain.client.getBlock({ blockNumber }));
  if (block.hash !== blockHash) return { confirmations: 0, settledAt: null };
  return { confirmations: depth, settledAt: toBlockTime(block) };
}
