import PQueue from 'p-queue';
import { ResponseTooLargeError } from '../../platform/outbound/bounded-body.ts';
import { priceCall } from './call-price.ts';
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

class QueueFullError extends Error {}

/** @param isReserved whether it precedes work that is not @throws QueueFullError immediately; the signal's reason when it aborts */
type RunQueued = <T>(work: () => Promise<T>, signal: AbortSignal, isReserved?: boolean) => Promise<T>;

export interface ReadOnlyRpc {
  /** Reads a call, or a batch of up to `MAX_CALLS_PER_BATCH`; forwards nothing and never throws. */
  read(body: unknown): RpcRequest;
}

export interface RpcRequest {
  /** Of the rate limit, for all calls together. */
  units: number;
  /** Never throws. @param isReserved whether it precedes requests that are not */
  answer(isReserved?: boolean): Promise<JsonRpcAnswer | JsonRpcAnswer[]>;
}

export interface RpcAccess {
  /** Proxy of the local chain that the service runs itself; null on an external chain. */
  rpc: ReadOnlyRpc | null;
  /** JSON-RPC endpoint to publish to clients; null where none is known. */
  rpcUrl: string | null;
}

export interface ReadOnlyRpcOptions {
  rpcUrl: string;
  /** Of the service: reading them costs less than reading any other. */
  contracts?: readonly string[];
  timeoutMs?: number;
  maxBytes?: number;
}

export const MAX_CALLS_PER_BATCH = 50;
/** `eth_getLogs` calls per batch: each may scan every log of the chain. */
export const MAX_LOG_CALLS = 4;
/** Requests at the node, over all clients: it processes one at a time and serves the service itself, too. */
export const NODE_CONCURRENCY = { atOnce: 2, waiting: 30 };
const MAX_ANSWER_BYTES = 8 * 2 ** 20;
const MAX_ERROR_MESSAGE_CHARS = 500;
/** Limit of revert data, in hex characters; no contract of the local chain comes near it. */
const MAX_REVERT_DATA_CHARS = 20_000;
const UNREACHABLE_MESSAGE = 'The chain did not answer in time; request less, or retry later';
const ANSWER_TOO_LONG_MESSAGE = 'The response exceeds the size limit of a request; request less at once';

export function createReadOnlyRpc(options: ReadOnlyRpcOptions): ReadOnlyRpc {
  const runQueued = createPrioritySemaphore(NODE_CONCURRENCY);
  const known = new Set((options.contracts ?? []).map((address) => address.toLowerCase()));
  return {
    read(body) {
      const bodies: unknown[] = Array.isArray(body) ? body : [body];
      if (bodies.length === 0 || bodies.length > MAX_CALLS_PER_BATCH) {
        const message = `A batch has 1 to ${MAX_CALLS_PER_BATCH} calls`;
        return { units: 0, answer: async () => createErrorResponse(null, JSON_RPC_ERROR_CODES.invalidRequest, message) };
      }
      const { parsed, units } = priceAll(bodies.map(parseCall), known);
      return {
        units,
        async answer(isReserved) {
          const answers = await answerAll(options, (work, signal) => runQueued(work, signal, isReserved), parsed);
          return Array.isArray(body) ? answers : answers[0];
        },
      };
    },
  };
}

type ParsedCall = ReadOnlyCall | JsonRpcAnswer;

function priceAll(calls: readonly ParsedCall[], known: ReadonlySet<string>): { parsed: ParsedCall[]; units: number } {
  let units = 0;
  const parsed = calls.map((call) => {
    if (!('method' in call)) return call;
    const priced = priceCall(call, known);
    units += priced.units;
    return priced.call;
  });
  return { parsed, units };
}

async function answerAll(options: ReadOnlyRpcOptions, runQueued: RunQueued, parsed: readonly ParsedCall[]): Promise<JsonRpcAnswer[]> {
  const calls = limitLogCalls(parsed.filter((one): one is ReadOnlyCall => 'method' in one));
  const signal = AbortSignal.timeout(options.timeoutMs ?? 10_000);
  const answers: Answers = new Map();
  if (calls.length > 0) {
    const request = { rpcUrl: options.rpcUrl, signal, bytesLeft: options.maxBytes ?? MAX_ANSWER_BYTES };
    await answerCalls(request, { calls, answers, runQueued }).catch((error: unknown) => {
      // Calls without an answer get an error response below; any other error is a bug of the proxy.
      if (error !== signal.reason && !NODE_FAILURES.some((Failure) => error instanceof Failure)) throw error;
    });
  }
  return parsed.map((one) => ('method' in one ? (answers.get(one) ?? createUnansweredError(one, calls)) : one));
}

const NODE_FAILURES = [NodeUnavailableError, QueueFullError, ResponseTooLargeError];

type Answers = Map<ReadOnlyCall, JsonRpcAnswer>;
const isLogCall = ({ method }: ReadOnlyCall) => method === 'eth_getLogs';
const mayTakeLong = (call: ReadOnlyCall) => isLogCall(call) || call.method === 'eth_call';

function limitLogCalls(calls: readonly ReadOnlyCall[]): ReadOnlyCall[] {
  const dropped = new Set(calls.filter(isLogCall).slice(MAX_LOG_CALLS));
  return calls.filter((call) => !dropped.has(call));
}

function createUnansweredError(call: ReadOnlyCall, forwarded: readonly ReadOnlyCall[]): JsonRpcAnswer {
  if (forwarded.includes(call)) return createErrorResponse(call.id, JSON_RPC_ERROR_CODES.internal, UNREACHABLE_MESSAGE);
  return createLimitError(call, `eth_getLogs: at most ${MAX_LOG_CALLS} of one request are answered`);
}

function createLimitError({ id }: ReadOnlyCall, message: string): JsonRpcAnswer {
  return createErrorResponse(id, JSON_RPC_ERROR_CODES.limitExceeded, message);
}

interface CallsToAnswer {
  calls: readonly ReadOnlyCall[];
  answers: Answers;
  runQueued: RunQueued;
}

/**
 * What may take the node long, calls of contracts and of logs, has a turn of its own there, so that those of others come between; all
 * lookups have one. A request waits for one turn at a time.
 */
async function answerCalls(request: NodeRequest, { calls, answers, runQueued }: CallsToAnswer): Promise<void> {
  const { signal } = request;
  const check = () => rejectLongRanges(request, calls, answers);
  const accepted = calls.some(needsHead) ? await runQueued(check, signal) : await check();
  const { true: long = [], false: lookups = [] } = Object.groupBy(accepted, (call) => String(mayTakeLong(call)) as 'true' | 'false');
  for (const turn of [lookups, ...long.map((call) => [call])]) {
    if (turn.length > 0) await runQueued(() => answerBatch(request, turn, answers), signal);
  }
}

/** Retries a batch that is too large call by call, so that only the large call fails. */
async function answerBatch(request: NodeRequest, calls: readonly ReadOnlyCall[], answers: Answers): Promise<void> {
  try {
    const replies = await sendNodeBatch(request, calls);
    for (const [index, call] of calls.entries()) answers.set(call, toResponse(call, replies.get(index)));
  } catch (error) {
    if (!(error instanceof ResponseTooLargeError)) throw error;
    if (calls.length === 1) answers.set(calls[0], createLimitError(calls[0], ANSWER_TOO_LONG_MESSAGE));
    else for (const call of calls) await answerBatch(request, [call], answers);
  }
}

/** Answers calls with too long a block range and returns the others. */
async function rejectLongRanges(request: NodeRequest, calls: readonly ReadOnlyCall[], answers: Answers): Promise<ReadOnlyCall[]> {
  const head = calls.some(needsHead) ? await readHeadNumber(request) : 0n;
  return calls.filter((call) => {
    if (!exceedsBlockLimit(call, head)) return true;
    answers.set(call, createLimitError(call, `eth_getLogs: a range may have at most ${MAX_LOG_BLOCKS} blocks; split it`));
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
    message: typeof message === 'string' ? message.slice(0, MAX_ERROR_MESSAGE_CHARS) : 'The node gave no reason',
    ...(typeof data === 'string' && data.length <= MAX_REVERT_DATA_CHARS ? { data } : {}),
  };
}

/** Runs up to `atOnce` works concurrently and queues up to `waiting` more, first in, first out. */
export function createPrioritySemaphore({ atOnce, waiting }: { atOnce: number; waiting: number }): RunQueued {
  const queue = new PQueue({ concurrency: atOnce });
  return async (work, signal, isReserved = false) => {
    signal.throwIfAborted();
    if (queue.pending >= atOnce && queue.size >= waiting) throw new QueueFullError('too many wait');
    return queue.add(work, { signal, priority: isReserved ? 1 : 0 });
  };
}
