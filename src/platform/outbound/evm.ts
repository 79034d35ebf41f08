import {
  BaseError,
  createPublicClient,
  createWalletClient,
  custom,
  type EIP1193RequestFn,
  http,
  isHex,
  type LocalAccount,
  type PublicClient,
  type WalletClient,
} from 'viem';
import { createOperatorFetch, type OutboundInit } from './operator.ts';

/** EIP-3668 lets a called contract make its caller fetch URLs, and clients name contracts here: no chain client follows such lookups. */
const NO_OFFCHAIN_LOOKUP = { ccipRead: false } as const;

export type NodeFetch = typeof fetch;

interface EvmReaderOptions {
  rpcUrl: string;
  timeoutMs: number;
  retryCount: number;
  retryDelayMs: number;
  pollingIntervalMs?: number;
  batchSize?: number;
  /** Transport other than HTTP, e.g. a socket; default: HTTP. */
  fetch?: NodeFetch;
}

/** Above the largest requested page of logs. */
const MAX_RPC_BYTES = 64 * 2 ** 20;

export function createEvmReader({ rpcUrl, timeoutMs, retryCount, retryDelayMs, batchSize, ...rest }: EvmReaderOptions): PublicClient {
  const batch = batchSize === undefined ? {} : { batch: { batchSize } };
  const fetchFn = rest.fetch ?? createNodeFetch(rpcUrl, timeoutMs);
  const node = http(rpcUrl, { fetchFn, timeout: timeoutMs, retryCount, retryDelay: retryDelayMs, ...batch });
  const transport = (config: Parameters<typeof node>[0]) => {
    const { request, ...rest } = node(config);
    return { ...rest, request: requireUsableAnswers(request) };
  };
  return createPublicClient({ ...NO_OFFCHAIN_LOOKUP, transport, pollingInterval: rest.pollingIntervalMs, cacheTime: 0 });
}

/** Of these, null says that the node does not have what was asked for. */
const NULLABLE_METHODS = ['eth_getTransactionByHash', 'eth_getTransactionReceipt', 'eth_getBlockReceipts'];
const NUMBER_METHODS =
  'eth_chainId eth_blockNumber eth_getBalance eth_getTransactionCount eth_estimateGas eth_gasPrice eth_maxPriorityFeePerGas'.split(' ');

/** viem takes a null answer to `eth_call` for a revert, an empty number for 0, and names no method for other types. */
function requireUsableAnswers(request: EIP1193RequestFn): EIP1193RequestFn {
  const checked = async (call: { method: string }, options?: object): Promise<unknown> => {
    const answer: unknown = await (request as (call: object, options?: object) => Promise<unknown>)(call, options);
    if (!isUsable(call.method, answer)) throw new BaseError(`${call.method}: the answer is unusable`);
    return answer;
  };
  return checked as EIP1193RequestFn;
}

function isUsable(method: string, answer: unknown): boolean {
  if (!method.startsWith('eth_') || NULLABLE_METHODS.includes(method)) return true;
  if (NUMBER_METHODS.includes(method)) return isHex(answer) && answer !== '0x';
  return method === 'eth_getLogs' ? Array.isArray(answer) : answer !== null && answer !== undefined;
}

/** viem's timeout ends at the response headers, this one at the last byte. */
function createNodeFetch(rpcUrl: string, timeoutMs: number): NodeFetch {
  const fetchNode = createOperatorFetch({ base: rpcUrl, timeoutMs: 2 * timeoutMs, maxBytes: MAX_RPC_BYTES });
  return (url, init) => fetchNode(String(url), init as OutboundInit);
}

/** A client that signs with an account; all its requests fail. */
export function createOfflineSigner(account: LocalAccount): WalletClient {
  const transport = custom({ request: async () => Promise.reject(new Error('the signer has no chain')) });
  return createWalletClient({ ...NO_OFFCHAIN_LOOKUP, account, transport });
}
