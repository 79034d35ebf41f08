import type { Chain } from '../client.ts';
import { chainCall } from './chain-call.ts';

/** The first block whose time is not before an instant; the newest where all are. @throws OracleError CHAIN_UNREACHABLE */
export async function findFirstBlockSince({ client }: Pick<Chain, 'client'>, since: Date): Promise<bigint> {
  const seconds = BigInt(Math.ceil(since.getTime() / 1_000));
  const isBefore = async (blockNumber: bigint) =>
    (await chainCall('Reading the time of a block', () => client.getBlock({ blockNumber }))).timestamp < seconds;
  let low = 0n;
  let high = await chainCall('Reading the block number', () => client.getBlockNumber());
  while (low < high) {
    const middle = (low + high) / 2n;
    if (await isBefore(middle)) low = middle + 1n;
    else high = middle;
  }
  return low;
}
