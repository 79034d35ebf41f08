import type { ReadOnlyCall } from './json-rpc.ts';
import type { LogFilter } from './methods.ts';

/** Longest block range of one `eth_getLogs`; the service's own ranges are shorter. */
export const MAX_LOG_BLOCKS = 10_000n;

type MethodCall = Pick<ReadOnlyCall, 'method' | 'params'>;

export function needsHead(call: MethodCall): boolean {
  const filter = getLogFilter(call);
  return filter !== null && filter.blockHash === undefined && isHead(filter.fromBlock) !== isHead(filter.toBlock);
}

/** @param head number of the latest block */
export function exceedsBlockLimit(call: MethodCall, head: bigint): boolean {
  const filter = getLogFilter(call);
  if (filter === null || filter.blockHash !== undefined) return false;
  const [from, to] = [filter.fromBlock, filter.toBlock].map((block) => toBlockNumber(block, head));
  return to - from >= MAX_LOG_BLOCKS;
}

function getLogFilter({ method, params }: MethodCall): LogFilter | null {
  return method === 'eth_getLogs' ? (params[0] as LogFilter) : null;
}

function isHead(block: string | undefined): boolean {
  return block === undefined || !(block === 'earliest' || block.startsWith('0x'));
}

function toBlockNumber(block: string | undefined, head: bigint): bigint {
  if (block === undefined || isHead(block)) return head;
  return block === 'earliest' ? 0n : BigInt(block);
}
