import type { PublicClient } from 'viem';
import { OracleError } from '../platform/errors.ts';
import { createEvmReader, type NodeFetch } from '../platform/outbound/evm-client.ts';
import type { ChainAddresses } from './addresses.ts';
import { chainCall } from './rpc/chain-call.ts';
import { withChainTimeout } from './rpc/time-limit.ts';

export interface ChainOptions {
  rpcUrl: string;
  /** What the endpoint must report. */
  chainId: number;
  /** Blocks after which a transaction counts, its own included: 1 is as soon as it is mined. */
  confirmations: number;
  pollingIntervalMs: number;
  addresses: ChainAddresses;
  /** Time for one request, and for one repetition of it. */
  requestTimeoutMs?: number;
  /** Sends the requests, where the node is reached by another way than HTTP. */
  fetch?: NodeFetch;
}

export interface Chain {
  readonly chainId: number;
  readonly confirmations: number;
  readonly pollingIntervalMs: number;
  readonly addresses: ChainAddresses;
  /** Its errors are viem's: call it inside `chainCall`. */
  readonly client: PublicClient;
}

export interface ChainHealth {
  blockNumber: number;
  /** Time of that block. */
  at: Date;
}

/**
 * Connects to a chain.
 * @throws OracleError CHAIN_UNREACHABLE, or CONFIG_INVALID when the endpoint serves another chain.
 */
export async function createChain({ rpcUrl, requestTimeoutMs = 10_000, fetch, ...options }: ChainOptions): Promise<Chain> {
  const { pollingIntervalMs } = options;
  const client = createEvmReader({ rpcUrl, timeoutMs: requestTimeoutMs, retryCount: 1, retryDelayMs: 100, pollingIntervalMs, fetch });
  const chainId = await chainCall('Asking for the chain id', () => client.getChainId());
  if (chainId !== options.chainId) {
    throw new OracleError('CONFIG_INVALID', `CHAIN_ID is ${options.chainId}, but the RPC endpoint serves chain ${chainId}`, {
      field: 'CHAIN_ID',
      suggestedAction: 'Set CHAIN_ID to the id of the chain, or CHAIN_RPC_URL to an endpoint of that chain.',
    });
  }
  return { ...options, client };
}

/** Whoever asks how the chain does wants to know it soon. */
const HEALTH_TIMEOUT_MS = 3_000;

/**
 * The newest block.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function readChainHealth({ client }: Chain): Promise<ChainHealth> {
  const block = await withChainTimeout(HEALTH_TIMEOUT_MS, 'Reading the newest block', () =>
    chainCall('Reading the newest block', () => client.getBlock()),
  );
  return { blockNumber: Number(block.number), at: new Date(Number(block.timestamp) * 1000) };
}

/** Time of the block that a node would make now: on a local chain its own clock, whichever process asks. @throws OracleError CHAIN_UNREACHABLE */
export async function readPendingBlockTime({ client }: Chain): Promise<Date> {
  const { timestamp } = await withChainTimeout(HEALTH_TIMEOUT_MS, 'Reading the pending block', () =>
    chainCall('Reading the pending block', () => client.getBlock({ blockTag: 'pending' })),
  );
  return new Date(Number(timestamp) * 1000);
}
