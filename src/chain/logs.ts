import type { AbiEvent, Address, GetLogsReturnType } from 'viem';
import type { Chain } from './client.ts';
import { chainCall } from './rpc-error.ts';

/** Providers refuse longer ranges. */
const BLOCKS_AT_ONCE = 5_000n;

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
  const logs = await inParts({ fromBlock, toBlock }, (part) => {
    const request = { ...query, strict: true, ...part } as unknown as Parameters<typeof client.getLogs>[0];
    return chainCall(`Reading ${query.event.name} events`, () => client.getLogs(request));
  });
  return logs as GetLogsReturnType<E, [E], true>;
}

/** An event of one of several kinds. */
export interface NamedEvent {
  eventName: string;
  args: Record<string, unknown>;
  blockNumber: bigint;
}

/** Events of several kinds of a contract, as `readLogs`. @throws OracleError CHAIN_UNREACHABLE */
export async function readEvents(
  { client }: Pick<Chain, 'client'>,
  { address, events, ...range }: Omit<LogQuery<AbiEvent>, 'event' | 'args'> & { events: readonly AbiEvent[] },
): Promise<NamedEvent[]> {
  const logs = await inParts(range, (part) =>
    chainCall('Reading events', () => client.getLogs({ address, events, strict: true, ...part })),
  );
  return logs as unknown as NamedEvent[];
}

type Range = Pick<LogQuery<AbiEvent>, 'fromBlock' | 'toBlock'>;

async function inParts<T>({ fromBlock, toBlock }: Range, read: (part: Range) => Promise<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let from = fromBlock; from <= toBlock; from += BLOCKS_AT_ONCE) {
    const last = from + BLOCKS_AT_ONCE - 1n;
    for (const one of await read({ fromBlock: from, toBlock: last < toBlock ? last : toBlock })) all.push(one);
  }
  return all;
}
