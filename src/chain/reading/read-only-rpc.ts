import { boundedJson } from '../../bounded-json.ts';
import { errorAnswer, type ReadingCall, RPC_ERROR, type RpcAnswer, type RpcError, readCall } from './call.ts';
import { isTooLong, MOST_BLOCKS, needsHead } from './log-range.ts';

/** Reads a chain for whoever asks, by JSON-RPC 2.0; nothing that changes it is passed on. */
export interface ReadOnlyRpc {
  /** One call, or up to `MOST_CALLS` of them. What goes wrong is told in the answer of the call. */
  answer(body: unknown): Promise<RpcAnswer | RpcAnswer[]>;
}

export interface ReadOnlyRpcOptions {
  rpcUrl: string;
  /** How long all calls of one request may take together. */
  timeoutMs?: number;
  /** The largest answer to all of them. */
  mostBytes?: number;
}

/** Calls in one request. */
export const MOST_CALLS = 50;

/** Of a node's own words. */
const LONGEST_MESSAGE = 500;
/** Data of a revert, as hex: what no contract of a demonstration comes near. */
const LONGEST_DATA = 20_000;

const UNREACHABLE = 'The chain does not answer, or not within the time and size that are allowed; ask for less, or again later';

export function createReadOnlyRpc(options: ReadOnlyRpcOptions): ReadOnlyRpc {
  return {
    answer: async (body) => {
      if (!Array.isArray(body)) return (await answerAll(options, [body]))[0];
      if (body.length > 0 && body.length <= MOST_CALLS) return answerAll(options, body);
      return errorAnswer(null, RPC_ERROR.invalidRequest, `A batch has 1 to ${MOST_CALLS} calls`);
    },
  };
}

/** An answer to each, in their order. */
async function answerAll(options: ReadOnlyRpcOptions, bodies: readonly unknown[]): Promise<RpcAnswer[]> {
  const read = bodies.map(readCall);
  const signal = AbortSignal.timeout(options.timeoutMs ?? 10_000);
  const answers = new Map<ReadingCall, RpcAnswer>();
  const calls = read.filter((one): one is ReadingCall => 'method' in one);
  try {
    const passed = await withinRange({ ...options, signal }, calls, answers);
    const replies = await ask({ ...options, signal }, passed);
    for (const [index, call] of passed.entries()) answers.set(call, told(call, replies.get(index)));
  } catch {
    for (const call of calls) if (!answers.has(call)) answers.set(call, errorAnswer(call.id, RPC_ERROR.internal, UNREACHABLE));
  }
  return read.map((one) => ('method' in one ? answers.get(one)! : one));
}

type Asked = ReadOnlyRpcOptions & { signal: AbortSignal };

/** The calls that ask for no more logs than are read at once; the others get their answers here. */
async function withinRange(options: Asked, calls: ReadingCall[], answers: Map<ReadingCall, RpcAnswer>): Promise<ReadingCall[]> {
  const head = calls.some(needsHead) ? await headOf(options) : 0n;
  return calls.filter((call) => {
    if (!isTooLong(call, head)) return true;
    const message = `eth_getLogs: a range may have ${MOST_BLOCKS} blocks; ask for it in parts`;
    answers.set(call, errorAnswer(call.id, RPC_ERROR.limitExceeded, message));
    return false;
  });
}

async function headOf(options: Asked): Promise<bigint> {
  const reply = (await ask(options, [{ method: 'eth_blockNumber', params: [] }])).get(0);
  return BigInt(reply?.result as string);
}

interface Reply {
  result?: unknown;
  error?: { code?: unknown; message?: unknown; data?: unknown };
}

/** What the node says, by the position of the call. @throws Error when it says nothing, too much or too late */
async function ask(
  { rpcUrl, signal, mostBytes = 8 * 2 ** 20 }: Asked,
  calls: Pick<ReadingCall, 'method' | 'params'>[],
): Promise<Map<number, Reply>> {
  if (calls.length === 0) return new Map();
  const body = JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })));
  const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });
  const replies = (await boundedJson(response, mostBytes)) as (Reply & { id: number })[];
  return new Map(replies.map((reply) => [reply.id, reply]));
}

function told({ id }: ReadingCall, reply: Reply | undefined): RpcAnswer {
  if (reply === undefined) return errorAnswer(id, RPC_ERROR.internal, UNREACHABLE);
  const { result, error } = reply;
  return error === undefined ? { jsonrpc: '2.0', id, result: result ?? null } : { jsonrpc: '2.0', id, error: toldError(error) };
}

function toldError({ code, message, data }: NonNullable<Reply['error']>): RpcError {
  return {
    code: Number.isInteger(code) ? (code as number) : RPC_ERROR.internal,
    message: String(message).slice(0, LONGEST_MESSAGE),
    ...(typeof data === 'string' && data.length <= LONGEST_DATA ? { data } : {}),
  };
}
