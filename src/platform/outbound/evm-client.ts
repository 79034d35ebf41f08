import { createPublicClient, createWalletClient, custom, http, type LocalAccount, type PublicClient, type WalletClient } from 'viem';
import { createOperatorFetch, type OutboundInit } from './operator-fetch.ts';

/** EIP-3668 lets a called contract make its caller fetch URLs, and clients name contracts here: no chain client follows such lookups. */
const NO_OFFCHAIN_LOOKUP = { ccipRead: false } as const;

export type NodeFetch = typeof fetch;

export interface EvmReaderOptions {
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
  const transport = http(rpcUrl, { fetchFn, timeout: timeoutMs, retryCount, retryDelay: retryDelayMs, ...batch });
  return createPublicClient({ ...NO_OFFCHAIN_LOOKUP, transport, pollingInterval: rest.pollingIntervalMs, cacheTime: 0 });
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
