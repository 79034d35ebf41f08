import type { ReadingCall } from './call.ts';
import type { LogFilter } from './methods.ts';

/** Blocks whose logs are read at once: more than this service itself asks for. */
export const MOST_BLOCKS = 10_000n;

/** Whether the newest block decides how many blocks a call reads. */
export function needsHead(call: Pick<ReadingCall, 'method' | 'params'>): boolean {
  const filter = filterOf(call);
  return filter !== null && filter.blockHash === undefined && isHead(filter.fromBlock) !== isHead(filter.toBlock);
}

/** @param head number of the newest block */
export function isTooLong(call: Pick<ReadingCall, 'method' | 'params'>, head: bigint): boolean {
  const filter = filterOf(call);
  if (filter === null || filter.blockHash !== undefined) return false;
  const [from, to] = [filter.fromBlock, filter.toBlock].map((block) => numberOf(block, head));
  return to - from >= MOST_BLOCKS;
}

function filterOf({ method, params }: Pick<ReadingCall, 'method' | 'params'>): LogFilter | null {
  return method === 'eth_getLogs' ? (params[0] as LogFilter) : null;
}

function isHead(block: string | undefined): boolean {
  return block === undefined || !(block === 'earliest' || block.startsWith('0x'));
}

function numberOf(block: string | undefined, head: bigint): bigint {
  if (block === undefined || isHead(block)) return head;
  return block === 'earliest' ? 0n : BigInt(block);
}
