import PQueue from 'p-queue';
import { getErrorMessage } from '../../../platform/errors.ts';
import type { NodeResponse, NodeSocket } from '../rpc/node-socket.ts';
import { applyWrite } from './apply-write.ts';
import { logPooledWrites } from './pooled-writes.ts';
import type { WriteLog, WriteMethod } from './write-log.ts';

/** Sends the writes of all clients to the node one after the other, each with the time of its block and after it is in the log. */
export interface ChainWriter {
  /** @throws OracleError CHAIN_UNREACHABLE */
  call(method: string, params?: unknown): Promise<NodeResponse>;
  /** Runs `work` while no write is under way, with the number of the last block. */
  pause<T>(work: (height: number) => Promise<T>): Promise<T>;
  /** As `pause`, for work that saves the state: what the state lacks is in the log before. */
  pauseToSave<T>(work: (height: number) => Promise<T>): Promise<T>;
}

interface PendingBlock {
  number: string;
  timestamp: string;
}

const SYNC_METHOD = 'eth_sendRawTransactionSync';
const MAKES_BLOCK: Readonly<Record<WriteMethod, boolean>> = {
  eth_sendRawTransaction: true,
  eth_sendTransaction: true,
  evm_mine: true,
  anvil_impersonateAccount: false,
  anvil_setBalance: false,
  anvil_setCode: false,
};
const LOG_FAILED = -32_603;

export function isChainWrite(method: string): boolean {
  return method in MAKES_BLOCK || method === SYNC_METHOD;
}

/** Calls of `node`, with its writes through `writer`. */
export function routeWrites(node: NodeSocket, writer: Pick<ChainWriter, 'call'>): NodeSocket {
  return { ...node, call: (method, params) => (isChainWrite(method) ? writer.call(method, params) : node.call(method, params)) };
}

export function createChainWriter(node: Pick<NodeSocket, 'call'>, log: WriteLog): ChainWriter {
  const queue = new PQueue({ concurrency: 1 });

  async function write(method: WriteMethod, params: unknown[]): Promise<NodeResponse> {
    const pending = await readPendingBlock(node.call);
    const height = Number(pending.number) - 1;
    const entry = { method, params, height, ...(MAKES_BLOCK[method] && { blockTime: getBlockTime(method, params, pending) }) };
    try {
      await log.append(entry);
    } catch (error) {
      return { error: { code: LOG_FAILED, message: `the local chain could not save the request: ${getErrorMessage(error)}` } };
    }
    return applyWrite(node.call, entry);
  }

  return {
    async call(method, params) {
      if (method === SYNC_METHOD) return sendAndReadReceipt(params);
      return queue.add(() => write(method as WriteMethod, Array.isArray(params) ? params : []));
    },
    pause: (work) => queue.add(async () => work(await readHeight(node.call))),
    pauseToSave: (work) =>
      queue.add(async () => {
        const height = await readHeight(node.call);
        await logPooledWrites(node, log, height);
        return work(height);
      }),
  };

  async function sendAndReadReceipt(params: unknown): Promise<NodeResponse> {
    const [raw] = Array.isArray(params) ? params : [];
    const sent = await queue.add(() => write('eth_sendRawTransaction', [raw]));
    return sent.error ? sent : node.call('eth_getTransactionReceipt', [sent.result]);
  }
}

async function readPendingBlock(call: NodeSocket['call']): Promise<PendingBlock> {
  return (await call('eth_getBlockByNumber', ['pending', false])).result as PendingBlock;
}

async function readHeight(call: NodeSocket['call']): Promise<number> {
  return Number((await readPendingBlock(call)).number) - 1;
}

/** `evm_mine` may name a time. */
function getBlockTime(method: WriteMethod, [time]: unknown[], pending: PendingBlock): number {
  return Number(method === 'evm_mine' && time !== undefined && typeof time !== 'object' ? time : pending.timestamp);
}
