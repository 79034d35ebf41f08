import { createPublicClient, createWalletClient, custom, http, type LocalAccount, type PublicClient, type WalletClient } from 'viem';

/**
 * EIP-3668 lets any contract that is called make its caller fetch URLs of the contract's choice. Contracts are named by clients here,
 * so no client of a chain follows such a lookup; this file is the only one that may construct one.
 */
const NO_OFFCHAIN_LOOKUP = { ccipRead: false } as const;

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
  fetch?: typeof fetch;
}

/** A client of a JSON-RPC endpoint that reads. Its errors are viem's. */
export function createEvmReader({ rpcUrl, timeoutMs, retryCount, retryDelayMs, batchSize, ...rest }: EvmReaderOptions): PublicClient {
  const batch = batchSize === undefined ? {} : { batch: { batchSize } };
  const own = rest.fetch === undefined ? {} : { fetchFn: rest.fetch };
  const transport = http(rpcUrl, { timeout: timeoutMs, retryCount, retryDelay: retryDelayMs, ...batch, ...own });
  return createPublicClient({ ...NO_OFFCHAIN_LOOKUP, transport, pollingInterval: rest.pollingIntervalMs, cacheTime: 0 });
}

/** A client that signs with an account and has no chain: each of its requests fails. */
export function createOfflineSigner(account: LocalAccount): WalletClient {
  const transport = custom({ request: async () => Promise.reject(new Error('the signer has no chain')) });
  return createWalletClient({ ...NO_OFFCHAIN_LOOKUP, account, transport });
}
