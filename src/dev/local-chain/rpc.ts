import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberToHex } from 'viem';
import { REORG_MARGIN_BLOCKS } from '../../chain/client.ts';
import { getErrorMessage, OracleError } from '../../errors.ts';
import { connectUnixSocket } from '../../platform/outbound/guarded.ts';
import { isPlainObject } from '../../platform/validation.ts';

interface NodeResponse {
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

type NodeRpcResponse = NodeResponse & { jsonrpc: '2.0'; id: unknown };

/** A connection to the node. Calls run concurrently; the process stays alive only while a call is pending. */
export interface NodeSocket {
  /** @throws OracleError CHAIN_UNREACHABLE if the connection closes before the response */
  call(method: string, params?: unknown): Promise<NodeResponse>;
  close(): void;
}

type Call = NodeSocket['call'];

interface RpcEndpoint {
  /** For all programs on this machine: reads and signed transactions. */
  publicUrl: string;
  /** For the owner of the chain: all methods. Its path is a secret; requests of browser pages are rejected here too. */
  ownerUrl: string;
  close(): Promise<void>;
}

interface RequestRejection {
  status: 400 | 403 | 405 | 413 | 415;
  message: string;
}

/** An allow-list: anvil rewrites the chain under more names than `anvil_`, `evm_` and `hardhat_`, e.g. `eth_sendUnsignedTransaction`. */
const PUBLIC_METHODS = new Set(
  [
    'web3_clientVersion web3_sha3 net_version net_listening txpool_status txpool_inspect txpool_content',
    'eth_chainId eth_networkId eth_protocolVersion eth_syncing eth_accounts eth_blockNumber eth_config',
    'eth_gasPrice eth_maxPriorityFeePerGas eth_blobBaseFee eth_feeHistory eth_estimateGas eth_fillTransaction',
    'eth_call eth_simulateV1 eth_createAccessList eth_getBalance eth_getCode eth_getStorageAt eth_getProof eth_getTransactionCount',
    'eth_getBlockByHash eth_getBlockByNumber eth_getBlockReceipts eth_getHeaderByHash eth_getHeaderByNumber',
    'eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber eth_getUncleCountByBlockHash eth_getUncleCountByBlockNumber',
    'eth_getUncleByBlockHashAndIndex eth_getUncleByBlockNumberAndIndex eth_getTransactionByHash eth_getTransactionByBlockHashAndIndex',
    'eth_getTransactionByBlockNumberAndIndex eth_getRawTransactionByHash eth_getTransactionReceipt eth_getTransactionBySenderAndNonce',
    'eth_getLogs eth_newFilter eth_newBlockFilter eth_newPendingTransactionFilter eth_getFilterChanges eth_getFilterLogs',
    'eth_uninstallFilter eth_sendRawTransaction eth_sendRawTransactionSync',
  ].flatMap((line) => line.split(' ')),
);
/** Anvil's own limit. */
const MAX_BODY_BYTES = 2 * 2 ** 20;
const MAX_BATCH = 1_000;
const KEEP_ALIVE_MS = 60_000;
const MAX_POOL_READS = 10;
/** As deep as a wallet looks for what took its nonce. */
const MAX_COUNTED_BLOCKS = 2 * REORG_MARGIN_BLOCKS;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INTERNAL = -32_603;

/** Connects to anvil's IPC endpoint, which terminates each JSON value by a newline. */
export function connectNode(path: string): NodeSocket {
  const waiting = new Map<number, PromiseWithResolvers<NodeResponse>>();
  let lastId = 0;
  let reason = 'the connection has ended';
  let begun: string[] = [];
  const unreachable = () => new OracleError('CHAIN_UNREACHABLE', `The local chain does not answer: ${reason}`);
  const socket = connectUnixSocket(path).setEncoding('utf8').unref();
  socket.on('data', (text: string) => {
    const [first = '', ...rest] = text.split('\n');
    begun.push(first);
    for (const next of rest) {
      receive(JSON.parse(begun.join('')) as NodeResponse & { id: number });
      begun = [next];
    }
  });
  socket.on('error', (error) => {
    reason = getErrorMessage(error);
  });
  socket.once('close', () => {
    for (const { reject } of waiting.values()) reject(unreachable());
    waiting.clear();
  });

  function receive({ id, result, error }: NodeResponse & { id: number }): void {
    const call = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) socket.unref();
    call?.resolve(error === undefined ? { result } : { error });
  }

  return {
    call: (method, params = []) => {
      if (socket.destroyed) return Promise.reject(unreachable());
      lastId += 1;
      const call = Promise.withResolvers<NodeResponse>();
      waiting.set(lastId, call);
      socket.ref().write(JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }));
      return call.promise;
    },
    close: () => void socket.destroy(),
  };
}

/** Serves JSON-RPC over HTTP on 127.0.0.1, in front of a node. @param port 0: any free port */
export async function serveRpcEndpoint(node: Pick<NodeSocket, 'call'>, port: number): Promise<RpcEndpoint> {
  const ownerPath = `/${randomBytes(32).toString('hex')}`;
  // A client that was busy for seconds would send its next request into a closed connection.
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const isAllowed = isEqual(request.url ?? '', ownerPath) ? () => true : (method: string) => PUBLIC_METHODS.has(method);
    void respond({ request, response, answer: (body) => answerRpc(node.call, body, isAllowed) });
  });
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(port, '127.0.0.1', listening));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    publicUrl,
    ownerUrl: publicUrl + ownerPath,
    close: async () => {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

function isEqual(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

interface HttpCall {
  request: IncomingMessage;
  response: ServerResponse;
  answer(body: unknown): Promise<NodeRpcResponse | NodeRpcResponse[] | undefined>;
}

/** Handles one JSON-RPC POST. Never rejects. */
async function respond({ request, response, answer }: HttpCall): Promise<void> {
  const rejection = findRejection(request);
  const text = rejection === null ? await readBody(request).catch(() => undefined) : undefined;
  if (text === undefined) {
    const { status, message } = rejection ?? { status: 413, message: `A body has at most ${MAX_BODY_BYTES} bytes` };
    // Closes the connection, so that the rest of the body is not read.
    response.setHeader('connection', 'close');
    return sendJson(response, status, buildRpcError(INVALID_REQUEST, message));
  }
  const body = parseJson(text);
  const reply = body === undefined ? buildRpcError(PARSE_ERROR, 'The body is not JSON') : await answer(body);
  if (reply === undefined) response.writeHead(204).end();
  else sendJson(response, 200, reply);
}

/**
 * Browsers add `Origin` to each POST, and DNS rebinding cannot change the name in `Host`. Programs send no `Origin`. Also rejects what a page can
 * send without a preflight request: GET, and content types other than JSON.
 */
function findRejection({ method, headers, socket }: IncomingMessage): RequestRejection | null {
  if (headers.origin !== undefined)
    return { status: 403, message: 'Pages in a browser may not call the local chain: the request has an Origin' };
  const port = socket.localPort;
  if (!['127.0.0.1', 'localhost', '[::1]'].some((name) => headers.host === `${name}:${port}`))
    return { status: 403, message: `Host must be 127.0.0.1:${port} or localhost:${port}` };
  if (method !== 'POST') return { status: 405, message: 'JSON-RPC is called by POST' };
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === 'application/json' ? null : { status: 415, message: 'Content-Type must be application/json' };
}

function sendJson(response: ServerResponse, status: number, reply: unknown): void {
  const text = JSON.stringify(reply);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Undefined, which JSON cannot be, for what is none. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Never rejects; undefined for notifications, which have no response. */
export async function answerRpc(
  call: Call,
  body: unknown,
  isAllowed = (_method: string) => true,
): Promise<NodeRpcResponse | NodeRpcResponse[] | undefined> {
  if (!Array.isArray(body)) return answerCall(call, body, isAllowed);
  if (body.length === 0 || body.length > MAX_BATCH) return buildRpcError(INVALID_REQUEST, `A batch has 1 to ${MAX_BATCH} calls`);
  const replies = await Promise.all(body.map((request) => answerCall(call, request, isAllowed)));
  const present = replies.filter((reply) => reply !== undefined);
  return present.length === 0 ? undefined : present;
}

async function answerCall(call: Call, request: unknown, isAllowed: (method: string) => boolean): Promise<NodeRpcResponse | undefined> {
  if (!isPlainObject(request) || typeof request.method !== 'string')
    return buildRpcError(INVALID_REQUEST, 'A call is an object with jsonrpc, id and method');
  const { id, method, params } = request;
  const message = 'This endpoint serves reading and signed transactions; methods that rewrite the local chain are for the service alone';
  const reply = isAllowed(method) ? await callNode(call, method, params) : { error: { code: METHOD_NOT_FOUND, message } };
  return id === undefined ? undefined : { jsonrpc: '2.0', id, ...reply };
}

function buildRpcError(code: number, message: string): NodeRpcResponse {
  return { jsonrpc: '2.0', id: null, error: { code, message } };
}

function callNode(call: Call, method: string, params: unknown): Promise<NodeResponse> {
  const special = Array.isArray(params) ? SPECIAL_CALLS[method] : undefined;
  const answered = special === undefined ? call(method, params) : special(call, params as unknown[]);
  return answered.catch((error: Error) => ({ error: { code: INTERNAL, message: error.message } }));
}

const SPECIAL_CALLS: Readonly<Record<string, (call: Call, params: readonly unknown[]) => Promise<NodeResponse>>> = {
  eth_estimateGas: estimateGas,
  eth_getTransactionCount: countTransactions,
  eth_sendRawTransaction: sendTransaction,
};

/** Responds when the transaction is mined, unless mining is paused: a client then finds its receipt at once. */
async function sendTransaction(call: Call, params: readonly unknown[]): Promise<NodeResponse> {
  const sent = await call('eth_sendRawTransaction', params);
  const isPending = async () => Number(((await call('txpool_status')).result as { pending: string }).pending) > 0;
  for (let reads = 0; sent.error === undefined && reads < MAX_POOL_READS && (await isPending()); ) reads += 1;
  return sent;
}

/** The gas of one execution, if that suffices; anvil searches the limit in some 20 executions, each of which reads all slots anew. */
async function estimateGas(call: Call, params: readonly unknown[]): Promise<NodeResponse> {
  const [request, block = 'pending', overrides] = params;
  if (!isPlainObject(request) || overrides !== undefined) return call('eth_estimateGas', params);
  const { result } = await call('eth_simulateV1', [{ blockStateCalls: [{ calls: [request] }] }, block]);
  const [{ calls: [{ status, gasUsed }] = [{}] } = {}] = (result ?? []) as { calls?: { status?: string; gasUsed?: string }[] }[];
  const isEnough = status === '0x1' && !(await call('eth_call', [{ ...request, gas: gasUsed }, block])).error;
  return isEnough ? { result: gasUsed } : call('eth_estimateGas', params);
}

/** Of a block whose state is no longer kept: the count at the newest block less the transactions that the account has sent since. */
async function countTransactions(call: Call, params: readonly unknown[]): Promise<NodeResponse> {
  const [address, block] = params.map(String);
  const response = await call('eth_getTransactionCount', params);
  const height = Number((await call('eth_blockNumber')).result);
  const behind = height - Number(block);
  if (response.error === undefined || !(behind > 0 && behind <= MAX_COUNTED_BLOCKS)) return response;
  const later = Array.from({ length: behind }, (_, index) => numberToHex(height - index));
  const [newest, ...blocks] = await Promise.all([
    call('eth_getTransactionCount', [address, numberToHex(height)]),
    ...later.map((number) => call('eth_getBlockByNumber', [number, true])),
  ]);
  if (newest.error !== undefined) return newest;
  const sent = blocks.flatMap(({ result }) => (result as { transactions: { from: string }[] }).transactions);
  const own = sent.filter(({ from }) => from.toLowerCase() === address.toLowerCase());
  return { result: numberToHex(Number(newest.result) - own.length) };
}
