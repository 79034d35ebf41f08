import { z } from 'zod';
import { AnswerTooLong } from '../../platform/outbound/bounded-body.ts';
import { measuredJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import type { ReadingCall } from './call.ts';

/** Which node is asked, and how much of its answers is left to read. */
export interface Asked {
  rpcUrl: string;
  signal: AbortSignal;
  bytesLeft: number;
}

/** The signal ends a question earlier. */
const TIMEOUT_MS = 30_000;

/** The node says nothing, not in time, or nothing that is an answer. */
export class NodeSilent extends Error {}

const ERROR = z.object({ code: z.unknown().optional(), message: z.unknown().optional(), data: z.unknown().optional() });
const REPLY = z.object({ id: z.number(), result: z.unknown().optional(), error: ERROR.nullish() });

export type NodeError = z.output<typeof ERROR>;
/** What a node says to one call, as far as JSON-RPC knows it. */
export type NodeReply = z.output<typeof REPLY>;

/**
 * Asks all calls at once. What the node says comes by the position of the call; it may leave some out.
 * @throws AnswerTooLong; NodeSilent
 */
export async function askNode(asked: Asked, calls: readonly Pick<ReadingCall, 'method' | 'params'>[]): Promise<Map<number, NodeReply>> {
  if (calls.length === 0) return new Map();
  const { rpcUrl, signal, bytesLeft } = asked;
  const body = JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })));
  // Made here: an address that is none is no silence of the node.
  const fetchNode = createOperatorFetch({ base: rpcUrl, timeoutMs: TIMEOUT_MS, maxBytes: bytesLeft });
  const ask = () => fetchNode(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
  const { value, bytes } = await answerTo(ask, bytesLeft);
  asked.bytesLeft -= bytes;
  return repliesIn(value);
}

/** Number of the newest block. @throws AnswerTooLong; NodeSilent */
export async function askHead(asked: Asked): Promise<bigint> {
  const head = (await askNode(asked, [{ method: 'eth_blockNumber', params: [] }])).get(0)?.result;
  if (typeof head !== 'string' || !/^0x[0-9a-f]{1,16}$/i.test(head)) throw new NodeSilent('the node does not say what its newest block is');
  return BigInt(head);
}

async function answerTo(ask: () => Promise<Response>, mostBytes: number): Promise<{ value: unknown; bytes: number }> {
  try {
    return await measuredJson(await ask(), mostBytes);
  } catch (error) {
    if (error instanceof AnswerTooLong) throw error;
    throw new NodeSilent('the node does not answer', { cause: error });
  }
}

function repliesIn(value: unknown): Map<number, NodeReply> {
  if (!Array.isArray(value)) throw new NodeSilent('the node answers a batch with something else');
  const replies = value.map((one) => REPLY.safeParse(one)).filter(({ success }) => success);
  return new Map(replies.map(({ data }) => [data!.id, data!]));
}
