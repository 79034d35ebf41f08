import { OracleError } from '../../../platform/errors.ts';
import type { NodeFetch } from '../../../platform/outbound/evm-client.ts';
import { routeWrites } from '../writes/chain-writer.ts';
import { answerRpc } from './answer.ts';
import { createNewSlots } from './new-slots.ts';
import { connectNode, type NodeSocket } from './node-socket.ts';

/** `fetch` for JSON-RPC over the Unix socket of a local node: half the cost of HTTP, and no checks. */
export interface NodeConnection {
  /** Accepts a POST with a text body; rejects with the signal's reason. @throws OracleError CHAIN_UNREACHABLE */
  fetch: NodeFetch;
  /** @throws OracleError CHAIN_UNREACHABLE without a response, CHAIN_REVERTED for an error of the node */
  call<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  /** The next block has this time (Unix seconds), which no block has yet, and its attestations are all of this process. */
  expectBlockAt(time: number): void;
  close(): void;
}

/** @param writePath socket of the host, which logs what changes the chain */
export function createIpcFetch(ipcPath: string, writePath: string): NodeConnection {
  let node: NodeSocket | undefined;
  let writer: NodeSocket | undefined;
  const connectedWriter = () => {
    writer ??= connectNode({ path: writePath, onClose: () => (writer = undefined) });
    return writer;
  };
  const connectedNode = () => {
    node ??= connectNode({ path: ipcPath, onClose: () => (node = undefined) });
    return node;
  };
  const newSlots = createNewSlots(connectedNode);
  const write: NodeSocket['call'] = async (method, params) => {
    await newSlots.forget();
    return connectedWriter().call(method, params);
  };
  const connected = () => routeWrites({ ...connectedNode(), call: newSlots.call }, { call: write });
  return {
    fetch: async (_url, { body, signal } = {}) => {
      const answered = answerRpc(connected(), JSON.parse(String(body)), () => true);
      const reply = await (signal ? Promise.race([answered, rejectOnAbort(signal)]) : answered);
      return Response.json(reply ?? null);
    },
    call: async <T>(method: string, ...params: unknown[]) => {
      const { result, error } = await connected().call(method, params);
      if (error) throw new OracleError('CHAIN_REVERTED', `${method} was refused: ${error.message}`);
      return result as T;
    },
    expectBlockAt: newSlots.expectBlockAt,
    close: () => {
      node?.close();
      writer?.close();
    },
  };
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}
