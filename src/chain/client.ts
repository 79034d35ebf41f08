import {
  BaseError,
  type Block,
  HttpRequestError,
  InternalRpcError,
  LimitExceededRpcError,
  type PublicClient,
  ResourceUnavailableRpcError,
  TimeoutError,
  type TransactionReceipt,
} from 'viem';
import { OracleError } from '../errors.ts';
import { createEvmReader, type NodeFetch } from '../platform/outbound/evm.ts';
import type { ChainAddresses } from './addresses.ts';
import { chainCall, chainCallWithin, readBlockNumber, readBlockTime, toBlockTime } from './rpc.ts';

export interface ChainOptions {
  rpcUrl: string;
  chainId: number;
  /** Confirmation depth in blocks, the transaction's own block included: 1 is final once mined. */
  confirmations: number;
  /** Depth at which a block is final on a chain without the tags `finalized` and `safe`. Default 1,800. */
  finalityBlocks?: number | undefined;
  pollingIntervalMs: number;
  addresses: ChainAddresses;
  /** Tiers of wallets in lower case, in place of a gate token. */
  gateWallets?: ReadonlyMap<string, 'basic' | 'premium'> | undefined;
  requestTimeoutMs?: number;
  /** Transport of the requests when the node is not reached over HTTP. */
  fetch?: NodeFetch;
}

export interface Chain
  extends Readonly<Pick<ChainOptions, 'chainId' | 'confirmations' | 'pollingIntervalMs' | 'addresses' | 'gateWallets'>> {
  readonly finalityBlocks: number;
  /** Throws viem errors: call it inside `chainCall`. */
  readonly client: PublicClient;
}

/** An hour of blocks of two seconds. */
const DEFAULT_FINALITY_BLOCKS = 1_800;

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
  return { ...options, finalityBlocks: options.finalityBlocks ?? DEFAULT_FINALITY_BLOCKS, client };
}

/** Shorter than a request's timeout: health probes need a prompt answer. */
const HEALTH_TIMEOUT_MS = 3_000;

/** The latest block with its time. @throws OracleError CHAIN_UNREACHABLE */
export async function readChainHealth({ client }: Chain): Promise<{ blockNumber: number; at: Date }> {
  const block = await chainCallWithin(HEALTH_TIMEOUT_MS, 'Reading the newest block', () => client.getBlock());
  return { blockNumber: Number(block.number), at: toBlockTime(block) };
}

/** Timestamp of the pending block: on a local chain, the node's own clock for every process. @throws OracleError CHAIN_UNREACHABLE */
export async function readPendingBlockTime({ client }: Chain): Promise<Date> {
  return toBlockTime(await chainCallWithin(HEALTH_TIMEOUT_MS, 'Reading the pending block', () => client.getBlock({ blockTag: 'pending' })));
}

/**
 * Blocks that a search begins before the block that it starts from, and that a cursor over events reads again: a reorganisation may move a
 * transaction ahead (Base has had one of 36 blocks), and a node of a load balancer may have answered for blocks that it did not have.
 */
export const REORG_MARGIN_BLOCKS = 64;

type DepthReader = Pick<Chain, 'client' | 'confirmations'>;

/** A block at the confirmation depth: reads up to it are final. */
export interface ConfirmedBlock {
  number: bigint;
  at: Date;
}

/** The newest block; with hash and time where a transaction in it is at the confirmation depth. */
interface Head {
  number: bigint;
  block: Pick<Block, 'hash' | 'timestamp'> | null;
}

/** Number of the newest block at the confirmation depth; negative on a shorter chain. @throws OracleError CHAIN_UNREACHABLE */
export async function readConfirmedBlockNumber(chain: DepthReader): Promise<bigint> {
  return (await readBlockNumber(chain)) - BigInt(chain.confirmations - 1);
}

/** The newest block at the confirmation depth; null on a shorter chain. @throws OracleError CHAIN_UNREACHABLE */
export async function readConfirmedBlock(chain: DepthReader): Promise<ConfirmedBlock | null> {
  const number = await readConfirmedBlockNumber(chain);
  return number < 0n ? null : { number, at: await readBlockTime(chain, number) };
}

/**
 * The newest block that no reorganisation reaches: `finalized`, else `safe`, else the one at a depth. Negative on a shorter chain.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function readFinalBlockNumber({ client, finalityBlocks }: Pick<Chain, 'client' | 'finalityBlocks'>): Promise<number> {
  for (const blockTag of ['finalized', 'safe'] as const) {
    const block = await chainCall('Reading the final block', () => client.getBlock({ blockTag }).catch(nullUnlessTransient));
    if (block !== null) return Number(block.number);
  }
  return Number(await readBlockNumber({ client })) - finalityBlocks;
}

/** An endpoint that is down has its tags all the same: a block that is less final must not stand in for them. */
function nullUnlessTransient(error: unknown): null {
  const isTransient = (cause: unknown) => TRANSIENT_ERRORS.some((kind) => cause instanceof kind);
  if (!(error instanceof BaseError) || error.walk(isTransient) !== null) throw error;
  return null;
}

const TRANSIENT_ERRORS = [HttpRequestError, TimeoutError, LimitExceededRpcError, InternalRpcError, ResourceUnavailableRpcError];

/** @throws OracleError CHAIN_UNREACHABLE */
export async function readHead(chain: DepthReader): Promise<Head> {
  if (chain.confirmations > 1) return { number: await readBlockNumber(chain), block: null };
  const block = await chainCall('Reading the newest block', () => chain.client.getBlock());
  return { number: block.number, block };
}

/**
 * `confirmations`: depth of the block, its own included; 0 once it is no longer canonical. `settledAt`: block time; null below the chain's
 * confirmation depth. The head is read before the block: a reorganisation in between cannot overstate the depth. @throws OracleError CHAIN_UNREACHABLE
 * @param head read before, such as together with the receipt; an older one understates the depth
 */
export async function readBlockDepth(
  chain: DepthReader,
  { blockNumber, blockHash }: Pick<TransactionReceipt, 'blockNumber' | 'blockHash'>,
  head?: Head,
): Promise<{ confirmations: number; settledAt: Date | null }> {
  const { number, block: newest } = head ?? (await readHead(chain));
  const depth = Math.max(0, Number(number - blockNumber) + 1);
  if (depth < chain.confirmations) return { confirmations: depth, settledAt: null };
  const isNewest = number === blockNumber;
  const block =
    (isNewest ? newest : null) ?? (await chainCall('Reading the block of a payment', () => chain.client.getBlock({ blockNumber })));
  if (block.hash !== blockHash) return { confirmations: 0, settledAt: null };
  return { confirmations: depth, settledAt: toBlockTime(block) };
}
