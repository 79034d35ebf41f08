import type { AbiEvent, Address, GetLogsReturnType } from 'viem';
import type { Chain } from '../client.ts';
import { chainCall } from './chain-call.ts';

/** Providers refuse longer ranges. */
const MAX_BLOCKS_PER_REQUEST = 5_000n;

export interface LogQuery<E extends AbiEvent> {
  address: Address;
  event: E;
  /** Values of indexed arguments. */
  args?: Record<string, unknown>;
  fromBlock: bigint;
  /** Included. */
  toBlock: bigint;
}

/** The events of a contract in a range of blocks of any length, in their order. @throws OracleError CHAIN_UNREACHABLE */
export async function readLogs<const E extends AbiEvent>(
  { client }: Pick<Chain, 'client'>,
  { fromBlock, toBlock, ...query }: LogQuery<E>,
): Promise<GetLogsReturnType<E, [E], true>> {
  const logs = await readInChunks({ fromBlock, toBlock }, (chunk) => {
    const request = { ...query, strict: true, ...chunk } as unknown as Parameters<typeof client.getLogs>[0];
    return chainCall(`Reading ${query.event.name} events`, () => client.getLogs(request));
  });
  return logs as GetLogsReturnType<E, [E], true>;
}

/** An event of one of several kinds. */
export interface DecodedEvent {
  eventName: string;
  args: Record<string, unknown>;
  blockNumber: bigint;
}

/** Events of several kinds of a contract, as `readLogs`. @throws OracleError CHAIN_UNREACHABLE */
export async function readContractEvents(
  { client }: Pick<Chain, 'client'>,
  { address, events, ...range }: Omit<LogQuery<AbiEvent>, 'event' | 'args'> & { events: readonly AbiEvent[] },
): Promise<DecodedEvent[]> {
  const logs = await readInChunks(range, (chunk) =>
    chainCall('Reading events', () => client.getLogs({ address, events, strict: true, ...chunk })),
  );
  return logs as unknown as DecodedEvent[];
}

type BlockRange = Pick<LogQuery<AbiEvent>, 'fromBlock' | 'toBlock'>;

async function readInChunks<T>({ fromBlock, toBlock }: BlockRange, read: (chunk: BlockRange) => Promise<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let from = fromBlock; from <= toBlock; from += MAX_BLOCKS_PER_REQUEST) {
    const last = from + MAX_BLOCKS_PER_REQUEST - 1n;
    for (const one of await read({ fromBlock: from, toBlock: last < toBlock ? last : toBlock })) all.push(one);
  }
  return all;
}
