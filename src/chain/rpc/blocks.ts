import type { PublicClient } from 'viem';
import { chainCall } from './chain-call.ts';

export interface ChainReader {
  readonly client: PublicClient;
}

/** @throws OracleError CHAIN_UNREACHABLE */
export function readBlockNumber({ client }: ChainReader): Promise<bigint> {
  return chainCall('Reading the block number', () => client.getBlockNumber());
}

/** @throws OracleError CHAIN_UNREACHABLE */
export async function readBlockTime({ client }: ChainReader, blockNumber: bigint): Promise<Date> {
  return toBlockTime(await chainCall('Reading the time of a block', () => client.getBlock({ blockNumber })));
}

export function toBlockTime({ timestamp }: { timestamp: bigint }): Date {
  return new Date(Number(timestamp) * 1_000);
}
