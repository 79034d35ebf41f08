import { z } from 'zod';
import { ResponseTooLargeError } from '../../platform/outbound/bounded-body.ts';
import { readMeasuredJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import type { ReadOnlyCall } from './json-rpc.ts';

export interface NodeRequest {
  rpcUrl: string;
  signal: AbortSignal;
  bytesLeft: number;
}

const NODE_TIMEOUT_MS = 30_000;

export class NodeUnavailableError extends Error {}

const ERROR = z.object({ code: z.unknown().optional(), message: z.unknown().optional(), data: z.unknown().optional() });
const REPLY = z.object({ id: z.number(), result: z.unknown().optional(), error: ERROR.nullish() });

export type JsonRpcReplyError = z.output<typeof ERROR>;
export type JsonRpcReply = z.output<typeof REPLY>;

/** One batch. Replies are keyed by the index of their call; the node may omit some. @throws ResponseTooLargeError; NodeUnavailableError */
export async function sendNodeBatch(
  request: NodeRequest,
  calls: readonly Pick<ReadOnlyCall, 'method' | 'params'>[],
): Promise<Map<number, JsonRpcReply>> {
  if (calls.length === 0) return new Map();
  const { rpcUrl, signal, bytesLeft } = request;
  const body = JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })));
  // Created outside the try: an invalid URL is a configuration error, not an unavailable node.
  const fetchNode = createOperatorFetch({ base: rpcUrl, timeoutMs: NODE_TIMEOUT_MS, maxBytes: bytesLeft });
  try {
    const response = await fetchNode(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
    const { value, bytes } = await readMeasuredJson(response, bytesLeft);
    request.bytesLeft -= bytes;
    return parseReplies(value);
  } catch (error) {
    if (error instanceof ResponseTooLargeError || error instanceof NodeUnavailableError) throw error;
    throw new NodeUnavailableError('the node does not answer', { cause: error });
  }
}

/** Number of the latest block. @throws ResponseTooLargeError; NodeUnavailableError */
export async function readHeadNumber(request: NodeRequest): Promise<bigint> {
  const head = (await sendNodeBatch(request, [{ method: 'eth_blockNumber', params: [] }])).get(0)?.result;
  if (typeof head !== 'string' || !/^0x[0-9a-f]{1,16}$/i.test(head)) throw new NodeUnavailableError('the node reports no block number');
  return BigInt(head);
}

function parseReplies(value: unknown): Map<number, JsonRpcReply> {
  if (!Array.isArray(value)) throw new NodeUnavailableError('the node did not answer the batch with an array');
  const replies = value.map((one) => REPLY.safeParse(one)).filter(({ success }) => success);
  return new Map(replies.map(({ data }) => [data!.id, data!]));
}
