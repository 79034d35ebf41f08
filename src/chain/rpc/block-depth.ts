import type { Block, TransactionReceipt } from 'viem';
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

/** The newest block; with hash and time where a transaction in it is at the confirmation depth. */
export interface Head {
  number: bigint;
  block: Pick<Block, 'hash' | 'timestamp'> | null;
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

/** @throws OracleError CHAIN_UNREACHABLE */
export async function readHead(chain: DepthReader): Promise<Head> {
  if (chain.confirmations > 1) return { number: await readBlockNumber(chain), block: null };
  const block = await chainCall('Reading the newest block', () => chain.client.getBlock());
  return { number: block.number, block };
}

/**
 * The head is read before the block: a reorganisation in between cannot overstate the depth. @throws OracleError CHAIN_UNREACHABLE
 * @param head read before, such as together with the receipt; an older one understates the depth
 */
export async function readBlockDepth(
  chain: DepthReader,
  { blockNumber, blockHash }: Pick<TransactionReceipt, 'blockNumber' | 'blockHash'>,
  head?: Head,
): Promise<BlockDepth> {
  const { number, block: newest } = head ?? (await readHead(chain));
  const depth = Math.max(0, Number(number - blockNumber) + 1);
  if (depth < chain.confirmations) return { confirmations: depth, settledAt: null };
  const isNewest = number === blockNumber;
  const block =
    (isNewest ? newest : null) ?? (await chainCall('Reading the block of a payment', () => chain.client.getBlock({ blockNumber })));
  if (block.hash !== blockHash) return { confirmations: 0, settledAt: null };
  return { confirmations: depth, settledAt: toBlockTime(block) };
}
