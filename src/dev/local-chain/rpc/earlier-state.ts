import type { NodeResponse, NodeSocket } from './node-socket.ts';

type Call = NodeSocket['call'];

const STATE_READS = new Set(['eth_call', 'eth_getBalance', 'eth_getCode', 'eth_getStorageAt']);
const OUT_OF_RANGE = /block height is (\d+) but requested was (\d+)/;
/** Blocks that may be mined between the read of a height and a read at that height. */
const MAX_BLOCKS_BEHIND = 8;
const MAX_COUNTED_BLOCKS = 64;

export function isStateRead(method: string): boolean {
  return STATE_READS.has(method) || method === 'eth_getTransactionCount';
}

/** Anvil has the newest state alone: a read at a block that was the newest just now is answered from it, and transactions are counted back. */
export async function readState(call: Call, method: string, params: readonly unknown[]): Promise<NodeResponse> {
  const response = await call(method, params);
  const [, height, requested] = (OUT_OF_RANGE.exec(response.error?.message ?? '') ?? []).map(Number);
  const behind = height - requested;
  if (method === 'eth_getTransactionCount' && behind > 0 && behind <= MAX_COUNTED_BLOCKS) {
    return (await countEarlierTransactions(call, String(params[0]), { height, requested })) ?? response;
  }
  if (!(behind > 0 && behind <= MAX_BLOCKS_BEHIND)) return response;
  return call(method, [...params.slice(0, -1), 'latest']);
}

interface SentTransaction {
  from: string;
}

/** The count at `height` without the account's transactions in the blocks after `requested`; null when another block came meanwhile. */
async function countEarlierTransactions(
  call: Call,
  address: string,
  { height, requested }: { height: number; requested: number },
): Promise<NodeResponse | null> {
  const later = Array.from({ length: height - requested }, (_, index) => toHex(requested + 1 + index));
  const [newest, ...blocks] = await Promise.all([
    call('eth_getTransactionCount', [address, toHex(height)]),
    ...later.map((block) => call('eth_getBlockByNumber', [block, true])),
  ]);
  if (newest.error) return null;
  const sent = blocks.flatMap(({ result }) => (result as { transactions: SentTransaction[] }).transactions);
  const own = sent.filter(({ from }) => from.toLowerCase() === address.toLowerCase());
  return { result: toHex(Number(newest.result) - own.length) };
}

function toHex(value: number): string {
  return `0x${value.toString(16)}`;
}
