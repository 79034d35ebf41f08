import { z } from 'zod';
import { ResponseTooLargeError } from '../../platform/outbound/bounded-body.ts';
import { readMeasuredJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import type { ReadOnlyCall } from './json-rpc.ts';

/** Which node is asked, and how much of its answers is left to read. */
export interface NodeRequest {
  rpcUrl: string;
  signal: AbortSignal;
  bytesLeft: number;
}

/** The signal ends a question earlier. */
const NODE_TIMEOUT_MS = 30_000;

/** The node says nothing, not in time, or nothing that is an answer. */
export class NodeUnavailableError extends Error {}

const ERROR = z.object({ code: z.unknown().optional(), message: z.unknown().optional(), data: z.unknown().optional() });
const REPLY = z.object({ id: z.number(), result: z.unknown().optional(), error: ERROR.nullish() });

export type JsonRpcReplyError = z.output<typeof ERROR>;
/** What a node says to one call, as far as JSON-RPC knows it. */
export type JsonRpcReply = z.output<typeof REPLY>;

/**
 * Asks all calls at once. What the node says comes by the position of the call; it may leave some out.
 * @throws AnswerTooLong; NodeSilent
 */
export async function sendNodeBatch(
  request: NodeRequest,
  calls: readonly Pick<ReadOnlyCall, 'method' | 'params'>[],
): Promise<Map<number, JsonRpcReply>> {
  if (calls.length === 0) return new Map();
  const { rpcUrl, signal, bytesLeft } = request;
  const body = JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })));
  // Made here: an address that is none is no silence of the node.
  const fetchNode = createOperatorFetch({ base: rpcUrl, timeoutMs: NODE_TIMEOUT_MS, maxBytes: bytesLeft });
  const sendRequest = () => fetchNode(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
  const { value, bytes } = await fetchAnswer(sendRequest, bytesLeft);
  request.bytesLeft -= bytes;
  return parseReplies(value);
}

/** Number of the newest block. @throws AnswerTooLong; NodeSilent */
export async function readHeadNumber(request: NodeRequest): Promise<bigint> {
  const head = (await sendNodeBatch(request, [{ method: 'eth_blockNumber', params: [] }])).get(0)?.result;
  if (typeof head !== 'string' || !/^0x[0-9a-f]{1,16}$/i.test(head))
    throw new NodeUnavailableError('the node does not say what its newest block is');
  return BigInt(head);
}

async function fetchAnswer(sendRequest: () => Promise<Response>, maxBytes: number): Promise<{ value: unknown; bytes: number }> {
  try {
    return await readMeasuredJson(await sendRequest(), maxBytes);
  } catch (error) {
    if (error instanceof ResponseTooLargeError) throw error;
    throw new NodeUnavailableError('the node does not answer', { cause: error });
  }
}

function parseReplies(value: unknown): Map<number, JsonRpcReply> {
  if (!Array.isArray(value)) throw new NodeUnavailableError('the node answers a batch with something else');
  const replies = value.map((one) => REPLY.safeParse(one)).filter(({ success }) => success);
  return new Map(replies.map(({ data }) => [data!.id, data!]));
}
