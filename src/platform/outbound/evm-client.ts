import { createPublicClient, createWalletClient, custom, http, type LocalAccount, type PublicClient, type WalletClient } from 'viem';
import { createOperatorFetch, type OutboundInit } from './operator-fetch.ts';

/**
 * EIP-3668 lets any contract that is called make its caller fetch URLs of the contract's choice. Contracts are named by clients here,
 * so no client of a chain follows such a lookup; this file is the only one that may construct one.
 */
const NO_OFFCHAIN_LOOKUP = { ccipRead: false } as const;

/** Sends JSON-RPC requests to a node, as `fetch` does. */
export type NodeFetch = typeof fetch;

export interface EvmReaderOptions {
  rpcUrl: string;
  /** For one request, milliseconds. */
  timeoutMs: number;
  retryCount: number;
  /** Before the first repetition, milliseconds. */
  retryDelayMs: number;
  /** Unset: viem's own. */
  pollingIntervalMs?: number;
  /** Calls that are sent in one request; unset: each has a request of its own. */
  batchSize?: number;
  /** Sends the requests where the node is reached by another way than HTTP; unset: over HTTP. */
  fetch?: NodeFetch;
}

/** Beyond the largest page of logs that is asked for. */
const MAX_RPC_BYTES = 64 * 2 ** 20;

/** A client of a JSON-RPC endpoint that reads. Its errors are viem's. */
export function createEvmReader({ rpcUrl, timeoutMs, retryCount, retryDelayMs, batchSize, ...rest }: EvmReaderOptions): PublicClient {
  const batch = batchSize === undefined ? {} : { batch: { batchSize } };
  const fetchFn = rest.fetch ?? createNodeFetch(rpcUrl, timeoutMs);
  const transport = http(rpcUrl, { fetchFn, timeout: timeoutMs, retryCount, retryDelay: retryDelayMs, ...batch });
  return createPublicClient({ ...NO_OFFCHAIN_LOOKUP, transport, pollingInterval: rest.pollingIntervalMs, cacheTime: 0 });
}

/** viem's own limit ends at the headers of an answer; this one, at its last byte. */
function createNodeFetch(rpcUrl: string, timeoutMs: number): NodeFetch {
  const fetchNode = createOperatorFetch({ base: rpcUrl, timeoutMs: 2 * timeoutMs, maxBytes: MAX_RPC_BYTES });
  return (url, init) => fetchNode(String(url), init as OutboundInit);
}

/** A client that signs with an account and has no chain: each of its requests fails. */
export function createOfflineSigner(account: LocalAccount): WalletClient {
  const transport = custom({ request: async () => Promise.reject(new Error('the signer has no chain')) });
  return createWalletClient({ ...NO_OFFCHAIN_LOOKUP, account, transport });
}
