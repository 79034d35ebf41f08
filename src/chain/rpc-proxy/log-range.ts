import type { ReadOnlyCall } from './json-rpc.ts';
import type { LogFilter } from './methods.ts';

/** Blocks whose logs are read at once: more than this service itself asks for. */
export const MAX_LOG_BLOCKS = 10_000n;

/** Whether the newest block decides how many blocks a call reads. */
export function needsHead(call: Pick<ReadOnlyCall, 'method' | 'params'>): boolean {
  const filter = getLogFilter(call);
  return filter !== null && filter.blockHash === undefined && isHead(filter.fromBlock) !== isHead(filter.toBlock);
}

/** @param head number of the newest block */
export function exceedsBlockLimit(call: Pick<ReadOnlyCall, 'method' | 'params'>, head: bigint): boolean {
  const filter = getLogFilter(call);
  if (filter === null || filter.blockHash !== undefined) return false;
  const [from, to] = [filter.fromBlock, filter.toBlock].map((block) => toBlockNumber(block, head));
  return to - from >= MAX_LOG_BLOCKS;
}

function getLogFilter({ method, params }: Pick<ReadOnlyCall, 'method' | 'params'>): LogFilter | null {
  return method === 'eth_getLogs' ? (params[0] as LogFilter) : null;
}

function isHead(block: string | undefined): boolean {
  return block === undefined || !(block === 'earliest' || block.startsWith('0x'));
}

function toBlockNumber(block: string | undefined, head: bigint): bigint {
  if (block === undefined || isHead(block)) return head;
  return block === 'earliest' ? 0n : BigInt(block);
}
