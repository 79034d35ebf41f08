import {
  type Abi,
  type Address,
  type Client,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  zeroHash,
} from 'viem';
import { getBlockNumber, getChainId } from 'viem/actions';
import { type ChainAddresses, MULTICALL3_ADDRESS } from '../../chain/addresses.ts';
import { easAbi } from '../../chain/eas/abi.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';

/** A chain as Node and browsers read it. */
export interface AuditChain<C extends Client = Client> {
  readonly client: C;
  readonly addresses: Pick<ChainAddresses, 'eas' | 'schemaRegistry'>;
  readonly chainId: number;
  /** Maximum concurrent calls. */
  readonly parallel: number;
  /** Whether many contract calls in one are answered; cleared at the first that is not. Absent: not tried. */
  readonly multicall?: { isServed: boolean };
}

export interface ClientOptions {
  /** Undefined: one call a request. */
  batchSize?: number;
  /** False: a failure is final. */
  retries: boolean;
}

/** OP Stack chains that are known to have EAS as a predeploy: Base, OP, Unichain, Soneium, Ink, and the testnets of Base and OP. */
export const OP_STACK_CHAIN_IDS: readonly number[] = [10, 130, 1_868, 8_453, 57_073, 84_532, 11_155_420];

const BATCH_SIZE = 50;
const MAX_CONCURRENT_BATCHES = 4;
const MAX_CONCURRENT_CALLS = 12;

/** Connects to a chain, with JSON-RPC batching if the endpoint supports it. @throws OracleError CHAIN_UNREACHABLE */
export async function connectChain<C extends Client>(createClient: (options: ClientOptions) => C, addresses: AuditChain['addresses']) {
  const probe = createClient({ batchSize: BATCH_SIZE, retries: false });
  const answers = await Promise.all([getChainId(probe), getBlockNumber(probe)]).catch(() => null);
  const batchSize = answers === null ? undefined : BATCH_SIZE;
  const client = createClient({ batchSize, retries: true });
  const chainId = answers === null ? await chainCall('Asking for the chain id', () => getChainId(client)) : answers[0];
  const parallel = batchSize === undefined ? MAX_CONCURRENT_CALLS : batchSize * MAX_CONCURRENT_BATCHES;
  return { client, addresses, chainId, parallel, multicall: { isServed: true } };
}

type ContractCall = { address: Address; abi: Abi; functionName: string; args: readonly unknown[] };

/** Without the deployless and multicall variants of the library, which are half of its size. @param blockNumber default: the newest */
export async function callContract<Result>({ client }: AuditChain, call: ContractCall, blockNumber?: number): Promise<Result> {
  const block = blockNumber === undefined ? 'latest' : numberToHex(blockNumber);
  const data = await client.request({ method: 'eth_call', params: [{ to: call.address, data: encodeFunctionData(call) }, block] });
  return decodeFunctionResult({ ...call, data }) as Result;
}

const buildAttestationCall = ({ addresses }: AuditChain, uid: Hex) => ({
  ...{ address: addresses.eas, abi: easAbi as Abi },
  ...{ functionName: 'getAttestation', args: [uid] },
});

/** Returns a zero uid for a missing attestation. @throws OracleError CHAIN_UNREACHABLE, also when the endpoint returns another one */
export async function readAttestation(chain: AuditChain, uid: Hex): Promise<RawAttestation> {
  return chainCall('Reading an attestation', async () =>
    requireMeant(uid, await callContract<RawAttestation>(chain, buildAttestationCall(chain, uid))),
  );
}

/** An endpoint that loses one response of a batch shifts the others. */
function requireMeant(uid: Hex, found: RawAttestation): RawAttestation {
  if (found.uid !== uid && found.uid !== zeroHash) throw new Error(`asked for ${uid}, the endpoint answers with ${found.uid}`);
  return found;
}

const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
]);

/** A request of so many is shorter than 64 KiB, the limit of many endpoints. */
const ATTESTATIONS_PER_CALL = 100;
/** Fewer are one batch of single calls. */
const MIN_ATTESTATIONS_PER_CALL = 20;
/** The transport would join concurrent ones to a request that is too long. */
const MAX_CONCURRENT_MULTICALLS = 1;

interface AttestationBatch extends Pick<BatchOptions<Hex, RawAttestation>, 'signal'> {
  onRead?(uid: Hex, content: RawAttestation): void;
}

/** In order; many at a time where the chain has Multicall3 and the endpoint takes such calls. @throws as `readAttestation`; the reason of `signal` */
export async function readAttestations(chain: AuditChain, uids: readonly Hex[], { signal, onRead }: AttestationBatch) {
  const readOne = async (uid: Hex) => {
    const content = await readAttestation(chain, uid);
    onRead?.(uid, content);
    return content;
  };
  const readEach = (some: readonly Hex[]) => readInBatches(some, { parallel: chain.parallel, signal, read: readOne });
  if (uids.length < MIN_ATTESTATIONS_PER_CALL || chain.multicall?.isServed !== true) return readEach(uids);
  const chunks = Array.from({ length: Math.ceil(uids.length / ATTESTATIONS_PER_CALL) }, (_, index) =>
    uids.slice(index * ATTESTATIONS_PER_CALL, (index + 1) * ATTESTATIONS_PER_CALL),
  );
  const read = async (chunk: readonly Hex[]) => {
    const found = await readTogether(chain, chunk);
    signal?.throwIfAborted();
    if (found === null) return readEach(chunk);
    for (const [index, uid] of chunk.entries()) onRead?.(uid, found[index]!);
    return found;
  };
  return (await readInBatches(chunks, { parallel: MAX_CONCURRENT_MULTICALLS, signal, read })).flat();
}

/** Null where the chain or its endpoint does not answer such a call: what is wrong shows in single calls. */
async function readTogether(chain: AuditChain, uids: readonly Hex[]): Promise<RawAttestation[] | null> {
  if (chain.multicall?.isServed !== true) return null;
  const calls = uids.map((uid) => buildAttestationCall(chain, uid));
  const args = [calls.map((call) => ({ target: call.address, allowFailure: false, callData: encodeFunctionData(call) }))];
  try {
    const call = { address: MULTICALL3_ADDRESS, abi: multicallAbi as Abi, functionName: 'aggregate3', args };
    const results = await callContract<readonly { returnData: Hex }[]>(chain, call);
    return uids.map((uid, index) =>
      requireMeant(uid, decodeFunctionResult({ ...calls[index]!, data: results[index]!.returnData }) as RawAttestation),
    );
  } catch {
    chain.multicall.isServed = false;
    return null;
  }
}

export type BlockTime = Awaited<ReturnType<typeof readBlock>>;

/** A block by its number, or the newest. @throws OracleError CHAIN_UNREACHABLE, also when the endpoint returns another block */
export async function readBlock({ client }: AuditChain, which: number | 'latest') {
  return chainCall('Reading a block', async () => {
    const name = which === 'latest' ? which : numberToHex(which);
    const answer = await client.request({ method: 'eth_getBlockByNumber', params: [name, false] });
    const block = { number: Number(answer?.number ?? Number.NaN), at: new Date(Number(answer?.timestamp ?? Number.NaN) * 1000) };
    const isThis = which === 'latest' ? Number.isSafeInteger(block.number) : block.number === which;
    if (!isThis || Number.isNaN(block.at.getTime())) throw new Error(`asked for block ${which}, the endpoint answers with another block`);
    return block;
  });
}

interface BatchOptions<T, R> {
  parallel: number;
  signal?: AbortSignal | undefined;
  read(item: T): Promise<R>;
  onRead?(done: number): void;
}

/** Reads all items in order, with at most `parallel` concurrent calls. */
export async function readInBatches<T, R>(items: readonly T[], { parallel, signal, read, onRead }: BatchOptions<T, R>): Promise<R[]> {
  const found: R[] = [];
  while (found.length < items.length) {
    signal?.throwIfAborted();
    found.push(...(await Promise.all(items.slice(found.length, found.length + Math.ceil(parallel)).map(read))));
    onRead?.(found.length);
  }
  return found;
}
