import { isPlainObject } from '../../../platform/validation/plain-object.ts';
import { isStateRead, readState } from './earlier-state.ts';
import type { NodeResponse, NodeSocket } from './node-socket.ts';

type Call = NodeSocket['call'];

/** Calls of the node, with what a fork without earlier states is slow at or cannot do. */
export function callNodeMethod(call: Call, method: string, params: unknown): Promise<NodeResponse> {
  if (!Array.isArray(params)) return call(method, params);
  if (method === 'eth_estimateGas') return estimateGas(call, params);
  return isStateRead(method) ? readState(call, method, params) : call(method, params);
}

/** The gas of one execution, if that suffices; anvil searches the limit in some 20 executions, each of which reads all slots anew. */
async function estimateGas(call: Call, params: readonly unknown[]): Promise<NodeResponse> {
  const [request, block = 'pending', overrides] = params;
  if (isPlainObject(request) && overrides === undefined) {
    const gas = await simulateGas(call, request, block);
    if (gas !== null && !(await call('eth_call', [{ ...request, gas }, block])).error) return { result: gas };
  }
  return call('eth_estimateGas', params);
}

async function simulateGas(call: Call, request: object, block: unknown): Promise<string | null> {
  const { result } = await call('eth_simulateV1', [{ blockStateCalls: [{ calls: [request] }] }, block]);
  const [{ calls: [{ status, gasUsed }] = [{}] } = {}] = (result ?? []) as { calls?: { status?: string; gasUsed?: string }[] }[];
  return status === '0x1' && gasUsed !== undefined ? gasUsed : null;
}
