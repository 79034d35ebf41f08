import { damagedPartError } from '../../../platform/data-dir/entries.ts';
import type { NodeSocket } from '../rpc/node-socket.ts';
import { applyWrite } from './apply-write.ts';
import type { ChainWrite } from './write-log.ts';

interface Block {
  number: string;
  timestamp: string;
}

/**
 * Repeats the writes that a restored state lacks, each at the time of its block: the same blocks, with the same hashes, result. Writes of the
 * state's own height that make no block may be repeated, since only the last of them counts. @throws OracleError DATA_DIR_DAMAGED
 */
export async function restoreWrites({ call }: Pick<NodeSocket, 'call'>, writes: readonly ChainWrite[]): Promise<void> {
  let last = await readLastBlock(call);
  for (const write of writes) {
    if (write.height < Number(last.number)) continue;
    if (write.height > Number(last.number)) throw gapError(write, Number(last.number));
    await applyWrite(call, write);
    if (write.blockTime === undefined) continue;
    const { number } = last;
    last = await readLastBlock(call);
    if (last.number !== number && Number(last.timestamp) !== write.blockTime) throw otherTimeError(write, last);
  }
}

async function readLastBlock(call: NodeSocket['call']): Promise<Block> {
  return (await call('eth_getBlockByNumber', ['latest', false])).result as Block;
}

function gapError({ height, method }: ChainWrite, last: number): Error {
  return damagedPartError(`The log of the local chain continues at block ${height} (${method}), but the saved chain ends at block ${last}`);
}

function otherTimeError({ blockTime, method }: ChainWrite, { number, timestamp }: Block): Error {
  const problem = `block ${Number(number)} (${method}) has time ${Number(timestamp)} instead of ${blockTime}`;
  return damagedPartError(`The log of the local chain cannot be repeated: ${problem}`);
}
