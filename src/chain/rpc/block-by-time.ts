import { type ChainReader, readBlockNumber, readBlockTime } from './blocks.ts';

/** The first block at or after an instant; the latest block when all are earlier. @throws OracleError CHAIN_UNREACHABLE */
export async function findFirstBlockSince(chain: ChainReader, since: Date): Promise<bigint> {
  const isSince = async (blockNumber: bigint) => (await readBlockTime(chain, blockNumber)) >= since;
  return findFirstBlockWhere(isSince, 0n, await readBlockNumber(chain));
}

/** Bisects for the first block from `low` to `high` that passes `test`, given that `high` passes. */
export async function findFirstBlockWhere(test: (blockNumber: bigint) => Promise<boolean>, low: bigint, high: bigint): Promise<bigint> {
  while (low < high) {
    const middle = (low + high) / 2n;
    if (await test(middle)) high = middle;
    else low = middle + 1n;
  }
  return high;
}
