import { ResponseTooLargeError } from '../../platform/outbound/bounded-body.ts';
import {
  createErrorResponse,
  JSON_RPC_ERROR_CODES,
  type JsonRpcAnswer,
  type JsonRpcAnswerError,
  parseCall,
  type ReadOnlyCall,
} from './json-rpc.ts';
import { exceedsBlockLimit, MAX_LOG_BLOCKS, needsHead } from './log-range.ts';
import {
  type JsonRpcReply,
  type JsonRpcReplyError,
  type NodeRequest,
  NodeUnavailableError,
  readHeadNumber,
  sendNodeBatch,
} from './node-client.ts';
import { createPrioritySemaphore, QueueFullError, type RunQueued } from './priority-semaphore.ts';

/** Reads a chain for whoever asks, by JSON-RPC 2.0; nothing that changes it is passed on. */
export interface ReadOnlyRpc {
  /**
   * One call, or up to `MOST_CALLS` of them. What goes wrong with a call, or with the chain, is told in its answer.
   * @param isReserved whether the request goes before those that are not
   */
  answer(body: unknown, isReserved?: boolean): Promise<JsonRpcAnswer | JsonRpcAnswer[]>;
}

export interface ReadOnlyRpcOptions {
  rpcUrl: string;
  /** How long all calls of one request may take together. */
  timeoutMs?: number;
  /** The largest answer to all of them. */
  maxBytes?: number;
}

/** Calls in one request. */
export const MAX_CALLS_PER_BATCH = 50;
/** Of them, those for logs: each may go through every log that there is. */
export const MAX_LOG_CALLS = 4;

/** Requests that are before the node at once, whoever asks: it answers the service itself too, and one after another. */
export const NODE_CONCURRENCY = { atOnce: 2, waiting: 30 };
const MAX_ANSWER_BYTES = 8 * 2 ** 20;
/** Of a node's own words. */
const MAX_ERROR_MESSAGE_CHARS = 500;
/** Data of a revert, as hex: what no contract of a demonstration comes near. */
const MAX_REVERT_DATA_CHARS = 20_000;

const UNREACHABLE_MESSAGE = 'The chain does not answer, or not within the time that is allowed; ask for less, or again later';
const ANSWER_TOO_LONG_MESSAGE = 'The answer is longer than what one request is given; ask for less at once';

export function createReadOnlyRpc(options: ReadOnlyRpcOptions): ReadOnlyRpc {
  const runQueued = createPrioritySemaphore(NODE_CONCURRENCY);
  return {
    answer: async (body, isReserved) => {
      const runWithPriority: RunQueued = (work, signal) => runQueued(work, signal, isReserved);
      if (!Array.isArray(body)) return (await answerAll(options, runWithPriority, [body]))[0];
      if (body.length > 0 && body.length <= MAX_CALLS_PER_BATCH) return answerAll(options, runWithPriority, body);
      return createErrorResponse(null, JSON_RPC_ERROR_CODES.invalidRequest, `A batch has 1 to ${MAX_CALLS_PER_BATCH} calls`);
    },
  };
}

/** An answer to each, in their order. */
async function answerAll(options: ReadOnlyRpcOptions, runQueued: RunQueued, bodies: readonly unknown[]): Promise<JsonRpcAnswer[]> {
  const read = bodies.map(parseCall);
  const calls = limitLogCalls(read.filter((one): one is ReadOnlyCall => 'method' in one));
  const signal = AbortSignal.timeout(options.timeoutMs ?? 10_000);
  const answers: Answers = new Map();
  if (calls.length > 0) {
    const asked = { rpcUrl: options.rpcUrl, signal, bytesLeft: options.maxBytes ?? MAX_ANSWER_BYTES };
    await runQueued(() => answerCalls(asked, calls, answers), signal).catch((error: unknown) => {
      // What the chain has not answered by then is answered below; what is wrong here is no silence of the chain.
      if (error !== signal.reason && !NODE_FAILURES.some((Failure) => error instanceof Failure)) throw error;
    });
  }
  return read.map((one) => ('method' in one ? (answers.get(one) ?? createUnansweredError(one, calls)) : one));
}

/** Why calls stay without an answer of the chain. */
const NODE_FAILURES = [NodeUnavailableError, QueueFullError, ResponseTooLargeError];

type Answers = Map<ReadOnlyCall, JsonRpcAnswer>;
const isLogCall = ({ method }: ReadOnlyCall) => method === 'eth_getLogs';

/** All calls but those for logs beyond the first few. */
function limitLogCalls(calls: readonly ReadOnlyCall[]): ReadOnlyCall[] {
  const dropped = new Set(calls.filter(isLogCall).slice(MAX_LOG_CALLS));
  return calls.filter((call) => !dropped.has(call));
}

function createUnansweredError(call: ReadOnlyCall, asked: readonly ReadOnlyCall[]): JsonRpcAnswer {
  if (asked.includes(call)) return createErrorResponse(call.id, JSON_RPC_ERROR_CODES.internal, UNREACHABLE_MESSAGE);
  return createErrorResponse(
    call.id,
    JSON_RPC_ERROR_CODES.limitExceeded,
    `eth_getLogs: at most ${MAX_LOG_CALLS} of one request are answered`,
  );
}

/** Logs one call after another: each may be long. All others at once. */
async function answerCalls(asked: NodeRequest, calls: readonly ReadOnlyCall[], answers: Answers): Promise<void> {
  const passed = await rejectLongRanges(asked, calls, answers);
  const others = passed.filter((call) => !isLogCall(call));
  await answerTogether(asked, others, answers);
  for (const call of passed.filter(isLogCall)) await answerTogether(asked, [call], answers);
}

/** One that is too long fails alone. */
async function answerTogether(asked: NodeRequest, calls: readonly ReadOnlyCall[], answers: Answers): Promise<void> {
  try {
    const replies = await sendNodeBatch(asked, calls);
    for (const [index, call] of calls.entries()) answers.set(call, toResponse(call, replies.get(index)));
  } catch (error) {
    if (!(error instanceof ResponseTooLargeError)) throw error;
    if (calls.length === 1)
      answers.set(calls[0], createErrorResponse(calls[0].id, JSON_RPC_ERROR_CODES.limitExceeded, ANSWER_TOO_LONG_MESSAGE));
    else for (const call of calls) await answerTogether(asked, [call], answers);
  }
}

/** The calls that ask for no more logs than are read at once; the others get their answers here. */
async function rejectLongRanges(asked: NodeRequest, calls: readonly ReadOnlyCall[], answers: Answers): Promise<ReadOnlyCall[]> {
  const head = calls.some(needsHead) ? await readHeadNumber(asked) : 0n;
  return calls.filter((call) => {
    if (!exceedsBlockLimit(call, head)) return true;
    const message = `eth_getLogs: a range may have ${MAX_LOG_BLOCKS} blocks; ask for it in parts`;
    answers.set(call, createErrorResponse(call.id, JSON_RPC_ERROR_CODES.limitExceeded, message));
    return false;
  });
}

function toResponse({ id }: ReadOnlyCall, reply: JsonRpcReply | undefined): JsonRpcAnswer {
  if (reply === undefined) return createErrorResponse(id, JSON_RPC_ERROR_CODES.internal, UNREACHABLE_MESSAGE);
  const { result = null, error } = reply;
  return error ? { jsonrpc: '2.0', id, error: toResponseError(error) } : { jsonrpc: '2.0', id, result };
}

function toResponseError({ code, message, data }: JsonRpcReplyError): JsonRpcAnswerError {
  return {
    code: Number.isInteger(code) ? (code as number) : JSON_RPC_ERROR_CODES.internal,
    message: typeof message === 'string' ? message.slice(0, MAX_ERROR_MESSAGE_CHARS) : 'The chain does not say why',
    ...(typeof data === 'string' && data.length <= MAX_REVERT_DATA_CHARS ? { data } : {}),
  };
}
