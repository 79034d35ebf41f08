import {
  type Address,
  type Client,
  decodeAbiParameters,
  type Hex,
  numberToHex,
  pad,
  parseAbiParameters,
  toEventSelector,
  zeroHash,
} from 'viem';
import type { ChainAddresses } from '../addresses.ts';
import { type BlockRange, type ChainReader, chainCall, readBlockNumber, readLogRanges } from '../rpc.ts';
import { EAS_SCHEMAS, easAbi, getSchemaUid, type RawAttestation, SCHEMA_VERSION, type SchemaName, schemaRegistryAbi } from './schemas.ts';

interface DecodedField {
  name: string;
  type: string;
  /** Integers up to 2^53 as number, larger ones as decimal text; bytes as hex. */
  value: string | number | boolean;
}

export interface OnChainAttestation {
  uid: Hex;
  attester: Address;
  schema: string;
  schemaUid: Hex;
  /** Null for a foreign schema. */
  schemaName: SchemaName | null;
  schemaVersion: string;
  /** Zero when it refers to none. */
  refUid: Hex;
  /** Block time. */
  at: Date;
  revoked: boolean;
  data: Hex;
  content: RawAttestation;
  /** Empty when the data does not decode under the schema. */
  decoded: DecodedField[];
}

export interface AttestationLog {
  uid: Hex;
  txHash: Hex;
  blockNumber: number;
  /** Time of the block, where the node names it in its events. */
  blockAt?: Date | undefined;
}

interface FindAttestationsOptions {
  schema: SchemaName;
  attester: Address;
  fromBlock: number;
  /** Default: the latest block. */
  toBlock?: number;
}

export type AttestationReader = ReturnType<typeof createAttestationReader>;

interface EasChain extends ChainReader {
  readonly addresses: Pick<ChainAddresses, 'eas' | 'schemaRegistry'>;
}

const ATTESTED_TOPIC = toEventSelector('Attested(address,address,bytes32,bytes32)');

export function createAttestationReader(chain: EasChain) {
  return {
    /** Of any schema; null for an unknown uid. */
    read: (uid: Hex) => readAttestation(chain, uid),
    /** In chain order, from `Attested` events. */
    async find(options: FindAttestationsOptions): Promise<AttestationLog[]> {
      const to = options.toBlock ?? Number(await readBlockNumber(chain));
      const read = (range: BlockRange) => readAttestedLogs(chain, options, range);
      const found: AttestationLog[] = [];
      for await (const { logs } of readLogRanges(chain.client, { from: options.fromBlock, to, read })) found.push(...logs);
      return found;
    },
  };
}

async function readAttestation(chain: EasChain, uid: Hex): Promise<OnChainAttestation | null> {
  const call = { address: chain.addresses.eas, abi: easAbi, functionName: 'getAttestation', args: [uid] } as const;
  const found = await chainCall('Reading an attestation', () => chain.client.readContract(call));
  if (found.uid === zeroHash) return null;
  const { attester, refUID: refUid, data } = found;
  const described = await describeSchema(chain, found.schema);
  return {
    uid,
    attester,
    ...described,
    refUid,
    at: new Date(Number(found.time) * 1000),
    revoked: found.revocationTime > 0n,
    data,
    content: found,
    decoded: decodeFields(described.schema, data),
  };
}

async function describeSchema({ client, addresses }: EasChain, uid: Hex) {
  const schemaName = (Object.keys(EAS_SCHEMAS) as SchemaName[]).find((name) => getSchemaUid(name) === uid) ?? null;
  if (schemaName) return { schemaUid: uid, schemaName, schema: EAS_SCHEMAS[schemaName], schemaVersion: SCHEMA_VERSION };
  const call = { address: addresses.schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema', args: [uid] } as const;
  const { schema } = await chainCall('Reading a schema', () => client.readContract(call));
  return { schemaUid: uid, schemaName, schema, schemaVersion: '' };
}

/** The `Attested` events of a block range, in one request. @throws OracleError CHAIN_UNREACHABLE */
export async function readAttestedLogs(
  { client, addresses }: { client: Client; addresses: Pick<ChainAddresses, 'eas'> },
  { attester, schema }: Pick<FindAttestationsOptions, 'attester' | 'schema'>,
  range: BlockRange,
): Promise<AttestationLog[]> {
  const filter = {
    address: addresses.eas,
    fromBlock: numberToHex(range.from),
    toBlock: numberToHex(range.to),
    topics: [ATTESTED_TOPIC, null, pad(attester), getSchemaUid(schema)],
  };
  return chainCall('Reading attestation events', async () => {
    const logs = await client.request({ method: 'eth_getLogs', params: [filter] });
    if (!Array.isArray(logs)) throw new Error('The endpoint does not answer with a list of events');
    const canonicalLogs = logs.filter(({ removed }) => !removed);
    // The uid is the only argument of the event that is not indexed.
    return canonicalLogs.map((log) => ({
      ...{ uid: log.data, txHash: log.transactionHash as Hex, blockNumber: Number(log.blockNumber) },
      blockAt: toBlockTime((log as { blockTimestamp?: unknown }).blockTimestamp),
    }));
  });
}

/** Zero where a node has the member only. */
function toBlockTime(timestamp: unknown): Date | undefined {
  const seconds = typeof timestamp === 'string' && /^0x[\da-f]{1,10}$/i.test(timestamp) ? Number(timestamp) : 0;
  return seconds === 0 ? undefined : new Date(seconds * 1_000);
}

function decodeFields(schema: string, data: Hex): DecodedField[] {
  try {
    const parameters = parseAbiParameters(schema);
    const values = decodeAbiParameters(parameters, data);
    return parameters.map(({ name = '', type }, index) => ({ name, type, value: toJsonValue(values[index]) }));
  } catch {
    // A foreign schema need not be valid, nor its data match.
    return [];
  }
}

function toJsonValue(value: unknown): string | number | boolean {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value;
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
}
