import type { AbiEvent, Address, GetLogsReturnType } from 'viem';
import type { ChainReader } from './blocks.ts';
import { chainCall } from './chain-call.ts';

/** RPC providers reject longer ranges of `eth_getLogs`. */
const MAX_BLOCKS_PER_REQUEST = 5_000n;

interface BlockRange {
  fromBlock: bigint;
  toBlock: bigint;
}

export interface LogQuery<E extends AbiEvent> extends BlockRange {
  address: Address;
  event: E;
  args?: Record<string, unknown>;
}

/** Events of a contract over a block range of any length, in chain order. @throws OracleError CHAIN_UNREACHABLE */
export async function readLogs<const E extends AbiEvent>(
  { client }: ChainReader,
  { fromBlock, toBlock, ...query }: LogQuery<E>,
): Promise<GetLogsReturnType<E, [E], true>> {
  const logs = await readInChunks({ fromBlock, toBlock }, (chunk) => {
    const request = { ...query, strict: true, ...chunk } as unknown as Parameters<typeof client.getLogs>[0];
    return chainCall(`Reading ${query.event.name} events`, () => client.getLogs(request));
  });
  return logs as GetLogsReturnType<E, [E], true>;
}

export interface DecodedEvent {
  eventName: string;
  args: Record<string, unknown>;
  blockNumber: bigint;
}

/** Events of several kinds of one contract, as `readLogs`. @throws OracleError CHAIN_UNREACHABLE */
export async function readContractEvents(
  { client }: ChainReader,
  { address, events, ...range }: BlockRange & { address: Address; events: readonly AbiEvent[] },
): Promise<DecodedEvent[]> {
  const logs = await readInChunks(range, (chunk) =>
    chainCall('Reading events', () => client.getLogs({ address, events, strict: true, ...chunk })),
  );
  return logs as unknown as DecodedEvent[];
}

async function readInChunks<T>({ fromBlock, toBlock }: BlockRange, read: (chunk: BlockRange) => Promise<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let from = fromBlock; from <= toBlock; from += MAX_BLOCKS_PER_REQUEST) {
    const last = from + MAX_BLOCKS_PER_REQUEST - 1n;
    for (const one of await read({ fromBlock: from, toBlock: last < toBlock ? last : toBlock })) all.push(one);
  }
  return all;
}
