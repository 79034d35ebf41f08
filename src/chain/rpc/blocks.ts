import type { PublicClient } from 'viem';
import { chainCall } from './chain-call.ts';

/** Anything with an RPC client, such as a `Chain`. */
export interface ChainReader {
  readonly client: PublicClient;
}

/** Number of the latest block. @throws OracleError CHAIN_UNREACHABLE */
export function readBlockNumber({ client }: ChainReader): Promise<bigint> {
  return chainCall('Reading the block number', () => client.getBlockNumber());
}

/** Timestamp of a block. @throws OracleError CHAIN_UNREACHABLE */
export async function readBlockTime({ client }: ChainReader, blockNumber: bigint): Promise<Date> {
  return toBlockTime(await chainCall('Reading the time of a block', () => client.getBlock({ blockNumber })));
}

/** The `timestamp` of a block, in Unix seconds, as a `Date`. */
export function toBlockTime({ timestamp }: { timestamp: bigint }): Date {
  return new Date(Number(timestamp) * 1_000);
}
