import { type Address, type Hex, type PublicClient, zeroHash } from 'viem';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../chain/addresses.ts';
import { easAbi } from '../../chain/eas/abi.ts';
import type { EasChain } from '../../chain/eas/attestation-reader.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { createEvmReader } from '../../platform/outbound/evm-client.ts';

export interface AuditChain extends EasChain {
  readonly chainId: number;
  /** Maximum concurrent calls. */
  readonly parallel: number;
}

export interface AuditChainOptions {
  rpcUrl: string;
  /** Default: the predeploy of the OP Stack. */
  eas?: Address;
  schemaRegistry?: Address;
}

const BATCH_SIZE = 50;
const MAX_CONCURRENT_BATCHES = 4;
const MAX_CONCURRENT_CALLS = 12;
const REQUEST_OPTIONS = { timeoutMs: 30_000, retryCount: 3, retryDelayMs: 250 };

/** Connects to a chain, with JSON-RPC batching if the endpoint supports it. @throws OracleError CHAIN_UNREACHABLE */
export async function openAuditChain({
  rpcUrl,
  eas = EAS_ADDRESS,
  schemaRegistry = SCHEMA_REGISTRY_ADDRESS,
}: AuditChainOptions): Promise<AuditChain> {
  const addresses = { eas, schemaRegistry };
  const single = createEvmReader({ rpcUrl, ...REQUEST_OPTIONS });
  const chainId = await chainCall('Asking for the chain id', () => single.getChainId());
  if (!(await supportsBatches(rpcUrl, chainId))) return { client: single, addresses, chainId, parallel: MAX_CONCURRENT_CALLS };
  return { client: createBatchingReader(rpcUrl, REQUEST_OPTIONS), addresses, chainId, parallel: BATCH_SIZE * MAX_CONCURRENT_BATCHES };
}

function createBatchingReader(rpcUrl: string, options: typeof REQUEST_OPTIONS): PublicClient {
  return createEvmReader({ rpcUrl, ...options, batchSize: BATCH_SIZE });
}

async function supportsBatches(rpcUrl: string, chainId: number): Promise<boolean> {
  const client = createBatchingReader(rpcUrl, { ...REQUEST_OPTIONS, retryCount: 0 });
  try {
    const answers = await Promise.all([client.getChainId(), client.getBlockNumber(), client.getChainId()]);
    return answers[0] === chainId && answers[2] === chainId;
  } catch {
    // A single call has just succeeded, so the endpoint only rejects batches.
    return false;
  }
}

/** Returns a zero uid for a missing attestation. @throws OracleError CHAIN_UNREACHABLE, also when the endpoint returns another one */
export async function readAttestation({ client, addresses }: AuditChain, uid: Hex): Promise<RawAttestation> {
  const call = { address: addresses.eas, abi: easAbi, functionName: 'getAttestation', args: [uid] } as const;
  return chainCall('Reading an attestation', async () => {
    const found = await client.readContract(call);
    // An endpoint that loses one response of a batch shifts the others.
    if (found.uid !== uid && found.uid !== zeroHash) throw new Error(`asked for ${uid}, the endpoint answers with ${found.uid}`);
    return found;
  });
}

/** @throws OracleError CHAIN_UNREACHABLE, also when the endpoint returns another block */
export async function readBlockTime({ client }: AuditChain, blockNumber: number): Promise<Date> {
  return chainCall('Reading a block', async () => {
    const { number, timestamp } = await client.getBlock({ blockNumber: BigInt(blockNumber) });
    const at = new Date(Number(timestamp) * 1000);
    const isThis = Number(number) === blockNumber && !Number.isNaN(at.getTime());
    if (!isThis) throw new Error(`asked for block ${blockNumber}, the endpoint answers with block ${number} of ${timestamp}`);
    return at;
  });
}

interface BatchOptions<T, R> {
  parallel: number;
  signal?: AbortSignal | undefined;
  read(item: T): Promise<R>;
  onRead(done: number): void;
}

/** Reads all items in order, with at most `parallel` concurrent calls. */
export async function readInBatches<T, R>(items: readonly T[], { parallel, signal, read, onRead }: BatchOptions<T, R>): Promise<R[]> {
  const found: R[] = [];
  for (let from = 0; from < items.length; from += parallel) {
    signal?.throwIfAborted();
    found.push(...(await Promise.all(items.slice(from, from + parallel).map(read))));
    onRead(found.length);
  }
  return found;
}
