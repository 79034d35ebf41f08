import type { PublicClient } from 'viem';
import { OracleError } from '../platform/errors.ts';
import { createEvmReader, type NodeFetch } from '../platform/outbound/evm-client.ts';
import type { ChainAddresses } from './addresses.ts';
import { toBlockTime } from './rpc/blocks.ts';
import { chainCall } from './rpc/chain-call.ts';
import { chainCallWithin } from './rpc/time-limit.ts';

export interface ChainOptions {
  rpcUrl: string;
  chainId: number;
  /** Confirmation depth in blocks, the transaction's own block included: 1 is final once mined. */
  confirmations: number;
  pollingIntervalMs: number;
  addresses: ChainAddresses;
  requestTimeoutMs?: number;
  /** Transport of the requests when the node is not reached over HTTP. */
  fetch?: NodeFetch;
}

export interface Chain {
  readonly chainId: number;
  readonly confirmations: number;
  readonly pollingIntervalMs: number;
  readonly addresses: ChainAddresses;
  /** Throws viem errors: call it inside `chainCall`. */
  readonly client: PublicClient;
}

export interface ChainHealth {
  blockNumber: number;
  /** Block time. */
  at: Date;
}

/** @throws OracleError CHAIN_UNREACHABLE, or CONFIG_INVALID when the endpoint serves another chain */
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

/** Shorter than a request's timeout: health probes need a prompt answer. */
const HEALTH_TIMEOUT_MS = 3_000;

/** Of the latest block. @throws OracleError CHAIN_UNREACHABLE */
export async function readChainHealth({ client }: Chain): Promise<ChainHealth> {
  const block = await chainCallWithin(HEALTH_TIMEOUT_MS, 'Reading the newest block', () => client.getBlock());
  return { blockNumber: Number(block.number), at: toBlockTime(block) };
}

/** Timestamp of the pending block: on a local chain, the node's own clock for every process. @throws OracleError CHAIN_UNREACHABLE */
export async function readPendingBlockTime({ client }: Chain): Promise<Date> {
  return toBlockTime(await chainCallWithin(HEALTH_TIMEOUT_MS, 'Reading the pending block', () => client.getBlock({ blockTag: 'pending' })));
}
