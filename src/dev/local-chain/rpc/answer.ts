import { isPlainObject } from '../../../platform/validation/plain-object.ts';
import { callNodeMethod } from './node-calls.ts';
import type { NodeResponse, NodeSocket } from './node-socket.ts';

export type NodeRpcResponse = NodeResponse & { jsonrpc: '2.0'; id: unknown };

const MAX_BATCH = 1_000;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INTERNAL = -32_603;

/** Never rejects; undefined for notifications, which have no response. */
export async function answerRpc(
  node: Pick<NodeSocket, 'call'>,
  body: unknown,
  isAllowed: (method: string) => boolean,
): Promise<NodeRpcResponse | NodeRpcResponse[] | undefined> {
  if (!Array.isArray(body)) return answerCall(node, body, isAllowed);
  if (body.length === 0 || body.length > MAX_BATCH) return buildRpcError(INVALID_REQUEST, `A batch has 1 to ${MAX_BATCH} calls`);
  const replies = await Promise.all(body.map((call) => answerCall(node, call, isAllowed)));
  const present = replies.filter((reply) => reply !== undefined);
  return present.length === 0 ? undefined : present;
}

export function buildRpcError(code: number, message: string, id: unknown = null): NodeRpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

export function parseRpcBody(text: string): { body: unknown } | { error: NodeRpcResponse } {
  try {
    return { body: JSON.parse(text) };
  } catch {
    return { error: buildRpcError(-32_700, 'The body is not JSON') };
  }
}

async function answerCall(
  node: Pick<NodeSocket, 'call'>,
  call: unknown,
  isAllowed: (method: string) => boolean,
): Promise<NodeRpcResponse | undefined> {
  if (!isPlainObject(call) || typeof call.method !== 'string')
    return buildRpcError(INVALID_REQUEST, 'A call is an object with jsonrpc, id and method');
  const { id, method, params } = call;
  const reply = isAllowed(method) ? await callNode(node, method, params) : buildMethodRejection();
  return id === undefined ? undefined : { jsonrpc: '2.0', id, ...reply };
}

async function callNode(node: Pick<NodeSocket, 'call'>, method: string, params: unknown): Promise<NodeResponse> {
  return callNodeMethod(node.call, method, params).catch((error: Error) => ({ error: { code: INTERNAL, message: error.message } }));
}

function buildMethodRejection(): NodeResponse {
  const message = 'This endpoint serves reading and signed transactions; methods that rewrite the local chain are for the service alone';
  return { error: { code: METHOD_NOT_FOUND, message } };
}
