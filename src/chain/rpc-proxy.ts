import PQueue from 'p-queue';
import { type Address, decodeFunctionData, type Hex, multicall3Abi, toFunctionSelector } from 'viem';
import { z } from 'zod';
import { createOperatorFetch, ResponseTooLargeError, readMeasuredJson } from '../platform/outbound/operator.ts';
import { isPlainObject } from '../platform/validation.ts';
import { MULTICALL3_ADDRESS } from './addresses.ts';

export interface ReadOnlyCall {
  id: JsonRpcId;
  method: ReadMethod;
  params: unknown[];
}

type JsonRpcId = string | number | null;

/** Error codes of JSON-RPC 2.0, and of EIP-1474 for an exceeded limit. */
export const JSON_RPC_ERROR_CODES = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  limitExceeded: -32_005,
} as const;

interface JsonRpcAnswer {
  jsonrpc: '2.0';
  id: JsonRpcId;
  result?: unknown;
  error?: { code: number; message: string; data?: string };
}

const ID = z.union([z.string().max(128), z.number(), z.null()]);

function createErrorResponse(id: JsonRpcId, code: number, message: string): JsonRpcAnswer {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Validates a call, or returns its error response. Error messages never quote the client's input. */
export function parseCall(value: unknown): ReadOnlyCall | JsonRpcAnswer {
  const { invalidRequest, methodNotFound, invalidParams } = JSON_RPC_ERROR_CODES;
  if (!isPlainObject(value)) {
    return createErrorResponse(null, invalidRequest, 'A call must be an object with jsonrpc, id, method and params');
  }
  const { jsonrpc, id: given, method, params = [] } = value;
  const parsedId = ID.safeParse(given);
  if (!parsedId.success) {
    return createErrorResponse(null, invalidRequest, 'id must be a number, a text of at most 128 characters or null');
  }
  const id = parsedId.data;
  if (jsonrpc !== '2.0') return createErrorResponse(id, invalidRequest, 'jsonrpc must be "2.0"');
  if (typeof method !== 'string') return createErrorResponse(id, invalidRequest, 'method must be a text');
  if (!isReadMethod(method)) {
    return createErrorResponse(id, methodNotFound, `Only read methods are served: ${READ_METHOD_NAMES.join(', ')}`);
  }
  const parsed = READ_METHODS[method].safeParse(params);
  if (parsed.success) return { id, method, params: parsed.data };
  return createErrorResponse(id, invalidParams, `${method}: ${formatIssue(parsed.error)}`);
}

function isReadMethod(method: string): method is ReadMethod {
  return Object.hasOwn(READ_METHODS, method);
}

function formatIssue({ issues: [{ code, path, message }] }: z.ZodError): string {
  if (path.length === 0 && code === 'too_big') return 'more parameters than it takes; overrides of the state are not served';
  const place = path.length === 0 ? 'params' : `params.${path.join('.')}`;
  return `${place} ${/^must /.test(message) ? message : 'is missing or malformed'}`;
}

const BLOCK_MESSAGE = 'must be the number of a block in hexadecimal, or one of latest, earliest, pending, safe, finalized';
/** Block number of at most 64 bits, or block tag. */
const BLOCK = z.string(BLOCK_MESSAGE).regex(/^(?:latest|earliest|pending|safe|finalized|0x[0-9a-fA-F]{1,16})$/, BLOCK_MESSAGE);
const HASH = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters');
const ADDRESS = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex characters');
const DATA = z.string().regex(/^0x(?:[0-9a-fA-F]{2})*$/, 'must be 0x and whole bytes in hexadecimal');
const AMOUNT = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/, 'must be a number in hexadecimal');
const INCLUDE_TRANSACTIONS = z.boolean('must be true or false');

/** Fees of the client are dropped: they do not affect a read. */
const CALL_PARAMETER = z.object({
  from: ADDRESS.optional(),
  to: ADDRESS,
  data: DATA.optional(),
  input: DATA.optional(),
  value: AMOUNT.optional(),
  gas: AMOUNT.optional(),
});

type CallParameter = z.output<typeof CALL_PARAMETER>;

const TOPICS = z.array(z.union([z.null(), HASH, z.array(HASH).max(20)])).max(4);
const LOG_FILTER = z.object({
  address: z.union([ADDRESS, z.array(ADDRESS).max(20)]).optional(),
  topics: TOPICS.optional(),
  fromBlock: BLOCK.optional(),
  toBlock: BLOCK.optional(),
  blockHash: HASH.optional(),
});

type LogFilter = z.output<typeof LOG_FILTER>;

/** Allow-list of methods and parameters. Nothing else is forwarded, so that a client cannot change state. */
const READ_METHODS = {
  eth_chainId: z.tuple([]),
  eth_blockNumber: z.tuple([]),
  // No third parameter: it would hold state overrides.
  eth_call: z.tuple([CALL_PARAMETER, BLOCK.optional()]),
  eth_getCode: z.tuple([ADDRESS, BLOCK.optional()]),
  eth_getBalance: z.tuple([ADDRESS, BLOCK.optional()]),
  eth_getBlockByNumber: z.tuple([BLOCK, INCLUDE_TRANSACTIONS.optional()]),
  eth_getBlockByHash: z.tuple([HASH, INCLUDE_TRANSACTIONS.optional()]),
  eth_getLogs: z.tuple([LOG_FILTER]),
  eth_getTransactionByHash: z.tuple([HASH]),
  eth_getTransactionReceipt: z.tuple([HASH]),
} as const satisfies Record<string, z.ZodTuple>;

type ReadMethod = keyof typeof READ_METHODS;

export const READ_METHOD_NAMES = Object.keys(READ_METHODS) as ReadMethod[];

interface NodeRequest {
  rpcUrl: string;
  signal: AbortSignal;
  bytesLeft: number;
  answers: Map<ReadOnlyCall, JsonRpcAnswer>;
  runQueued: RunQueued;
}

const NODE_TIMEOUT_MS = 30_000;

class NodeUnavailableError extends Error {}

const ERROR = z.object({ code: z.unknown().optional(), message: z.unknown().optional(), data: z.unknown().optional() });
const REPLY = z.object({ id: z.number(), result: z.unknown().optional(), error: ERROR.nullish() });

type JsonRpcReply = z.output<typeof REPLY>;

/** One batch. Replies are keyed by the index of their call; the node may omit some. @throws ResponseTooLargeError; NodeUnavailableError */
async function sendNodeBatch(request: NodeRequest, calls: readonly MethodCall[]): Promise<Map<number, JsonRpcReply>> {
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
async function readHeadNumber(request: NodeRequest): Promise<bigint> {
  const head = (await sendNodeBatch(request, [{ method: 'eth_blockNumber', params: [] }])).get(0)?.result;
  if (typeof head !== 'string' || !/^0x[0-9a-f]{1,16}$/i.test(head)) throw new NodeUnavailableError('the node reports no block number');
  return BigInt(head);
}

function parseReplies(value: unknown): Map<number, JsonRpcReply> {
  if (!Array.isArray(value)) throw new NodeUnavailableError('the node did not answer the batch with an array');
  const replies = value.map((one) => REPLY.safeParse(one)).filter(({ success }) => success);
  return new Map(replies.map(({ data }) => [data!.id, data!]));
}

class QueueFullError extends Error {}

/** @param isReserved whether it precedes work that is not @throws QueueFullError immediately; the signal's reason when it aborts */
type RunQueued = <T>(work: () => Promise<T>, signal: AbortSignal, isReserved?: boolean) => Promise<T>;

interface RpcRequest {
  /** Of the rate limit, for all calls together. */
  units: number;
  /** Never throws. @param isReserved whether it precedes requests that are not */
  answer(isReserved?: boolean): Promise<JsonRpcAnswer | JsonRpcAnswer[]>;
}

export interface RpcAccess {
  /** Proxy of the local chain that the service runs itself; null on an external chain. */
  rpc: ReturnType<typeof createReadOnlyRpc> | null;
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

export function createReadOnlyRpc(options: ReadOnlyRpcOptions) {
  const runQueued = createPrioritySemaphore(NODE_CONCURRENCY);
  const known = new Set((options.contracts ?? []).map((address) => address.toLowerCase()));
  return {
    /** Reads a call, or a batch of up to `MAX_CALLS_PER_BATCH`; forwards nothing and never throws. */
    read(body: unknown): RpcRequest {
      const bodies: unknown[] = Array.isArray(body) ? body : [body];
      if (bodies.length === 0 || bodies.length > MAX_CALLS_PER_BATCH) {
        const message = `A batch has 1 to ${MAX_CALLS_PER_BATCH} calls`;
        return { units: 0, answer: async () => createErrorResponse(null, JSON_RPC_ERROR_CODES.invalidRequest, message) };
      }
      let units = 0;
      const parsed = bodies.map(parseCall).map((call) => {
        if (!('method' in call)) return call;
        const priced = priceCall(call, known);
        units += priced.units;
        return priced.call;
      });
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

async function answerAll(
  options: ReadOnlyRpcOptions,
  runQueued: RunQueued,
  parsed: readonly (ReadOnlyCall | JsonRpcAnswer)[],
): Promise<JsonRpcAnswer[]> {
  const served = parsed.filter((one) => 'method' in one);
  const dropped = new Set(served.filter(isLogCall).slice(MAX_LOG_CALLS));
  const calls = served.filter((call) => !dropped.has(call));
  const signal = AbortSignal.timeout(options.timeoutMs ?? 10_000);
  const answers: NodeRequest['answers'] = new Map();
  if (calls.length > 0) {
    const request = { rpcUrl: options.rpcUrl, signal, bytesLeft: options.maxBytes ?? MAX_ANSWER_BYTES, answers, runQueued };
    await answerCalls(request, calls).catch((error: unknown) => {
      // Calls without an answer get an error response below; any other error is a bug of the proxy.
      if (error !== signal.reason && !NODE_FAILURES.some((Failure) => error instanceof Failure)) throw error;
    });
  }
  return parsed.map((one) => ('method' in one ? (answers.get(one) ?? createUnansweredError(one, calls)) : one));
}

const NODE_FAILURES = [NodeUnavailableError, QueueFullError, ResponseTooLargeError];

const isLogCall = ({ method }: ReadOnlyCall) => method === 'eth_getLogs';
const mayTakeLong = (call: ReadOnlyCall) => isLogCall(call) || call.method === 'eth_call';

function createUnansweredError(call: ReadOnlyCall, forwarded: readonly ReadOnlyCall[]): JsonRpcAnswer {
  if (forwarded.includes(call)) return createErrorResponse(call.id, JSON_RPC_ERROR_CODES.internal, UNREACHABLE_MESSAGE);
  return createLimitError(call, `eth_getLogs: at most ${MAX_LOG_CALLS} of one request are answered`);
}

function createLimitError({ id }: ReadOnlyCall, message: string): JsonRpcAnswer {
  return createErrorResponse(id, JSON_RPC_ERROR_CODES.limitExceeded, message);
}

/**
 * What may take the node long, calls of contracts and of logs, has a turn of its own there, so that those of others come between; all
 * lookups have one. A request waits for one turn at a time.
 */
async function answerCalls(request: NodeRequest, calls: readonly ReadOnlyCall[]): Promise<void> {
  const { signal, runQueued } = request;
  const check = () => rejectLongRanges(request, calls);
  const accepted = calls.some(needsHead) ? await runQueued(check, signal) : await check();
  const { true: long = [], false: lookups = [] } = Object.groupBy(accepted, (call) => String(mayTakeLong(call)) as 'true' | 'false');
  for (const turn of [lookups, ...long.map((call) => [call])]) {
    if (turn.length > 0) await runQueued(() => answerBatch(request, turn), signal);
  }
}

/** Retries a batch that is too large call by call, so that only the large call fails. */
async function answerBatch(request: NodeRequest, calls: readonly ReadOnlyCall[]): Promise<void> {
  const { answers } = request;
  try {
    const replies = await sendNodeBatch(request, calls);
    for (const [index, call] of calls.entries()) answers.set(call, toResponse(call, replies.get(index)));
  } catch (error) {
    if (!(error instanceof ResponseTooLargeError)) throw error;
    if (calls.length === 1) answers.set(calls[0], createLimitError(calls[0], ANSWER_TOO_LONG_MESSAGE));
    else for (const call of calls) await answerBatch(request, [call]);
  }
}

/** Answers calls with too long a block range and returns the others. */
async function rejectLongRanges(request: NodeRequest, calls: readonly ReadOnlyCall[]): Promise<ReadOnlyCall[]> {
  const head = calls.some(needsHead) ? await readHeadNumber(request) : 0n;
  return calls.filter((call) => {
    if (!exceedsBlockLimit(call, head)) return true;
    request.answers.set(call, createLimitError(call, `eth_getLogs: a range may have at most ${MAX_LOG_BLOCKS} blocks; split it`));
    return false;
  });
}

function toResponse({ id }: ReadOnlyCall, reply: JsonRpcReply | undefined): JsonRpcAnswer {
  if (reply === undefined) return createErrorResponse(id, JSON_RPC_ERROR_CODES.internal, UNREACHABLE_MESSAGE);
  const { result = null, error } = reply;
  return error ? { jsonrpc: '2.0', id, error: toResponseError(error) } : { jsonrpc: '2.0', id, result };
}

function toResponseError({ code, message, data }: z.output<typeof ERROR>): JsonRpcAnswer['error'] {
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

/** Of any `eth_call`: a node's own limit is that of a whole block. */
const MAX_CALL_GAS = 10_000_000;
/** Where the client names no gas. */
const DEFAULT_GAS = { known: 1_000_000, unknown: 2_000_000 };

/**
 * Prices in units of the rate limit, each at most ten times the work of a signal: 35 ms of CPU, of the service and the node together.
 * In a contract that the client chooses a million of gas may be 12 ms, as hashes and precompiles are underpriced; in those of the
 * record it is 1 ms.
 */
const GAS_PER_UNIT = { known: 20_000_000, unknown: 2_000_000 };
const LOOKUP_UNITS = 0.02;
/** Of a call within a multicall: the node decodes and answers one request for all. */
const INNER_CALL_UNITS = 0.005;

const METHOD_UNITS: Readonly<Record<Exclude<ReadMethod, 'eth_call'>, number>> = {
  eth_chainId: LOOKUP_UNITS,
  eth_blockNumber: LOOKUP_UNITS,
  eth_getBalance: LOOKUP_UNITS,
  eth_getCode: 0.1,
  eth_getBlockByNumber: LOOKUP_UNITS,
  eth_getBlockByHash: LOOKUP_UNITS,
  eth_getLogs: 0.5,
  eth_getTransactionByHash: LOOKUP_UNITS,
  eth_getTransactionReceipt: 0.1,
};
const BLOCK_WITH_TRANSACTIONS_UNITS = 0.1;

/** Prices a call, and bounds the gas of an `eth_call` to what its price covers. @param known contracts of the record, in lower case */
export function priceCall(call: ReadOnlyCall, known: ReadonlySet<string>): { call: ReadOnlyCall; units: number } {
  const { method, params } = call;
  if (method !== 'eth_call') {
    const isLong = params[1] === true;
    return { call, units: isLong ? BLOCK_WITH_TRANSACTIONS_UNITS : METHOD_UNITS[method] };
  }
  const [{ gas: named, data, input = data, ...target }, ...block] = params as [CallParameter, ...unknown[]];
  // One of both names, so that the node runs what is priced.
  const transaction = { ...target, ...(input === undefined ? {} : { data: input }) };
  const calls = countKnownCalls(transaction, known);
  const kind = calls > 0 ? 'known' : 'unknown';
  const isMulticall = calls > 0 && !known.has(transaction.to.toLowerCase());
  const gas = Math.min(named === undefined ? (isMulticall ? MAX_CALL_GAS : DEFAULT_GAS[kind]) : Number(named), MAX_CALL_GAS);
  return {
    call: { ...call, params: [{ ...transaction, gas: `0x${gas.toString(16)}` }, ...block] },
    units: Math.max(gas / GAS_PER_UNIT[kind], LOOKUP_UNITS, isMulticall ? calls * INNER_CALL_UNITS : 0),
  };
}

/** Calls of known contracts that a transaction makes; 0 where it calls any other. */
function countKnownCalls({ to, data = '0x' }: Pick<CallParameter, 'to' | 'data'>, known: ReadonlySet<string>): number {
  if (known.has(to.toLowerCase())) return 1;
  if (to.toLowerCase() !== MULTICALL3_ADDRESS.toLowerCase()) return 0;
  const targets = readTargets(data as Hex);
  return targets.every((target) => known.has(target.toLowerCase())) ? targets.length : 0;
}

const AGGREGATE_SELECTOR = toFunctionSelector('aggregate3((address,bool,bytes)[])');

/** None where the data cannot be read: such a call has the price of an unknown one. */
function readTargets(data: Hex): Address[] {
  if (!data.toLowerCase().startsWith(AGGREGATE_SELECTOR)) return [];
  try {
    const { args } = decodeFunctionData({ abi: multicall3Abi, data });
    const [calls] = args ?? [];
    return Array.isArray(calls) ? (calls as readonly { target: Address }[]).map(({ target }) => target) : [];
  } catch {
    return [];
  }
}

/** Longest block range of one `eth_getLogs`; the service's own ranges are shorter. */
export const MAX_LOG_BLOCKS = 10_000n;

type MethodCall = Pick<ReadOnlyCall, 'method' | 'params'>;

export function needsHead(call: MethodCall): boolean {
  const filter = getLogFilter(call);
  return filter !== null && filter.blockHash === undefined && isHead(filter.fromBlock) !== isHead(filter.toBlock);
}

/** @param head number of the latest block */
export function exceedsBlockLimit(call: MethodCall, head: bigint): boolean {
  const filter = getLogFilter(call);
  if (filter === null || filter.blockHash !== undefined) return false;
  const [from, to] = [filter.fromBlock, filter.toBlock].map((block) => toBlockNumber(block, head));
  return to - from >= MAX_LOG_BLOCKS;
}

function getLogFilter({ method, params }: MethodCall): LogFilter | null {
  return method === 'eth_getLogs' ? (params[0] as LogFilter) : null;
}

function isHead(block: string | undefined): boolean {
  return block === undefined || !(block === 'earliest' || block.startsWith('0x'));
}

function toBlockNumber(block: string | undefined, head: bigint): bigint {
  if (block === undefined || isHead(block)) return head;
  return block === 'earliest' ? 0n : BigInt(block);
}
