import {
  type Address,
  type Client,
  decodeAbiParameters,
  encodeAbiParameters,
  encodePacked,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
  parseAbiParameters,
  sha256,
  toEventSelector,
  zeroAddress,
  zeroHash,
} from 'viem';
import { OracleError } from '../../errors.ts';
import type { ChainAddresses } from '../addresses.ts';
import { type BlockRange, type ChainReader, chainCall, readBlockNumber, readBlockTime, readLogRanges } from '../rpc.ts';

/** EAS schemas: non-revocable, without a resolver. The uid is a hash of the text, so a changed text is a new schema. */
export const EAS_SCHEMAS = {
  prediction:
    'uint64 sequence, uint32 day, uint16 horizonDays, uint64 windowOpensAt, uint64 resolvesAt, bytes32 commitment, bytes32 inputsDigest, bytes32 metadata',
  resolution:
    'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents, uint64 btcAtSignalCents, uint64 btcAtResolutionCents, int32 returnBps, uint8 outcome',
} as const;

export type SchemaName = keyof typeof EAS_SCHEMAS;

const SCHEMA_VERSION = '1';

export interface PredictionData {
  /** Position in the record of this horizon, from 1, without gaps. */
  sequence: number;
  /** Days since 1970-01-01. */
  day: number;
  horizonDays: number;
  /** Whole seconds, as on chain. */
  windowOpensAt: Date;
  resolvesAt: Date;
  commitment: Hex;
  inputsDigest: Hex;
  /** sha2-256 of the public metadata. */
  metadata: Hex;
}

/** Content of a resolution: the opening of the commitment, and the outcome. Prices in US cents. */
export interface ResolutionData extends CommitmentOpening {
  btcAtSignalCents: number;
  btcAtResolutionCents: number;
  returnBps: number;
  outcome: OutcomeName;
}

const PREDICTION_PARAMETERS = parseAbiParameters(EAS_SCHEMAS.prediction);
const RESOLUTION_PARAMETERS = parseAbiParameters(EAS_SCHEMAS.resolution);
const MAX_UINT16 = 2 ** 16 - 1;
const MAX_UINT32 = 2 ** 32 - 1;
const MAX_INT32 = 2 ** 31 - 1;

export function getSchemaUid(name: SchemaName): Hex {
  return keccak256(encodePacked(['string', 'address', 'bool'], [EAS_SCHEMAS[name], zeroAddress, false]));
}

/** @throws OracleError INPUT_INVALID naming a field that is out of range. */
export function encodePrediction(data: PredictionData): Hex {
  return encodeAbiParameters(PREDICTION_PARAMETERS, [
    BigInt(requireWholeNumber('sequence', data.sequence)),
    requireWholeNumber('day', data.day, MAX_UINT32),
    requireWholeNumber('horizonDays', data.horizonDays, MAX_UINT16),
    BigInt(requireWholeNumber('windowOpensAt', data.windowOpensAt.getTime() / 1000)),
    BigInt(requireWholeNumber('resolvesAt', data.resolvesAt.getTime() / 1000)),
    requireBytes32('commitment', data.commitment),
    requireBytes32('inputsDigest', data.inputsDigest),
    requireBytes32('metadata', data.metadata),
  ]);
}

/** @throws OracleError ATTESTATION_MISMATCH when the data does not decode under this schema. */
export function decodePrediction(data: Hex): PredictionData {
  const [sequence, day, horizonDays, windowOpensAt, resolvesAt, commitment, inputsDigest, metadata] = decodeOrMismatch('prediction', () =>
    decodeAbiParameters(PREDICTION_PARAMETERS, data),
  );
  return {
    sequence: Number(sequence),
    day,
    horizonDays,
    windowOpensAt: new Date(Number(windowOpensAt) * 1000),
    resolvesAt: new Date(Number(resolvesAt) * 1000),
    commitment,
    inputsDigest,
    metadata,
  };
}

/** @throws OracleError INPUT_INVALID naming a field that is out of range. */
export function encodeResolution(data: ResolutionData): Hex {
  return encodeAbiParameters(RESOLUTION_PARAMETERS, [
    requireBytes32('salt', data.salt),
    encodeName('signal', SIGNAL_CODES, data.signal),
    encodeName('direction', DIRECTION_CODES, data.direction),
    requireWholeNumber('confidenceBps', data.confidenceBps, MAX_UINT16),
    requireWholeNumber('pUpBps', data.pUpBps, MAX_UINT16),
    BigInt(requireWholeNumber('btcPriceCents', data.btcPriceCents)),
    BigInt(requireWholeNumber('btcAtSignalCents', data.btcAtSignalCents)),
    BigInt(requireWholeNumber('btcAtResolutionCents', data.btcAtResolutionCents)),
    requireWholeNumber('returnBps', data.returnBps, MAX_INT32, -MAX_INT32 - 1),
    encodeName('outcome', OUTCOME_CODES, data.outcome),
  ]);
}

/** @throws OracleError ATTESTATION_MISMATCH when the data does not decode under this schema. */
export function decodeResolution(data: Hex): ResolutionData {
  return decodeOrMismatch('resolution', () => {
    const [salt, signal, direction, confidenceBps, pUpBps, price, atSignal, atResolution, returnBps, outcome] = decodeAbiParameters(
      RESOLUTION_PARAMETERS,
      data,
    );
    return {
      salt,
      signal: decodeCode('signal', SIGNAL_CODES, signal),
      direction: decodeCode('direction', DIRECTION_CODES, direction),
      confidenceBps,
      pUpBps,
      btcPriceCents: Number(price),
      btcAtSignalCents: Number(atSignal),
      btcAtResolutionCents: Number(atResolution),
      returnBps,
      outcome: decodeCode('outcome', OUTCOME_CODES, outcome),
    };
  });
}

function decodeOrMismatch<T>(name: SchemaName, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new OracleError('ATTESTATION_MISMATCH', `The data is not that of a ${name}`, { cause });
  }
}

/** Subset of the ABI of the Ethereum Attestation Service 1.x (https://github.com/ethereum-attestation-service/eas-contracts). */
export const easAbi = parseAbi([
  'struct AttestationRequestData { address recipient; uint64 expirationTime; bool revocable; bytes32 refUID; bytes data; uint256 value; }',
  'struct MultiAttestationRequest { bytes32 schema; AttestationRequestData[] data; }',
  'struct Attestation { bytes32 uid; bytes32 schema; uint64 time; uint64 expirationTime; uint64 revocationTime; bytes32 refUID; address recipient; address attester; bool revocable; bytes data; }',
  'event Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schemaUID)',
  'function multiAttest(MultiAttestationRequest[] multiRequests) payable returns (bytes32[])',
  'function getAttestation(bytes32 uid) view returns (Attestation)',
  'function getNonce(address account) view returns (uint256)',
]);

export const schemaRegistryAbi = parseAbi([
  'struct SchemaRecord { bytes32 uid; address resolver; bool revocable; string schema; }',
  'function register(string schema, address resolver, bool revocable) returns (bytes32)',
  'function getSchema(bytes32 uid) view returns (SchemaRecord)',
]);

/** An attestation as the EAS contract returns it; times in seconds since 1970. */
export interface RawAttestation {
  uid: Hex;
  schema: Hex;
  time: bigint;
  expirationTime: bigint;
  revocationTime: bigint;
  refUID: Hex;
  recipient: Address;
  attester: Address;
  revocable: boolean;
  data: Hex;
}

/** On-chain codes of names. Never renumber: attestations are permanent. */
export const SIGNAL_CODES = { HOLD: 0, BUY: 1, SELL: 2 } as const;
export const DIRECTION_CODES = { UP: 1, DOWN: 2 } as const;
export const OUTCOME_CODES = { HOLD: 0, WIN: 1, LOSS: 2 } as const;

type SignalName = keyof typeof SIGNAL_CODES;
type DirectionName = keyof typeof DIRECTION_CODES;
export type OutcomeName = keyof typeof OUTCOME_CODES;

export interface CommitmentOpening {
  /** 32 bytes; see `deriveSalt`. */
  salt: Hex;
  signal: SignalName;
  direction: DirectionName;
  /** Calibrated probability of the direction, 0 to 10,000. */
  confidenceBps: number;
  /** Probability of UP, 0 to 10,000. */
  pUpBps: number;
  btcPriceCents: number;
}

const OPENING_PARAMETERS = parseAbiParameters(
  'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents',
);
const MAX_BPS = 10_000;

/** keccak256(abi.encode(salt, signal, direction, confidenceBps, pUpBps, btcPriceCents)). @throws OracleError INPUT_INVALID naming a field */
export function computeCommitment(opening: CommitmentOpening): Hex {
  return keccak256(encodeOpening(opening));
}

/** @throws OracleError INPUT_INVALID naming a field that is out of range. */
export function encodeOpening(opening: CommitmentOpening): Hex {
  return encodeAbiParameters(OPENING_PARAMETERS, [
    requireBytes32('salt', opening.salt),
    encodeName('signal', SIGNAL_CODES, opening.signal),
    encodeName('direction', DIRECTION_CODES, opening.direction),
    requireWholeNumber('confidenceBps', opening.confidenceBps, MAX_BPS),
    requireWholeNumber('pUpBps', opening.pUpBps, MAX_BPS),
    BigInt(requireWholeNumber('btcPriceCents', opening.btcPriceCents)),
  ]);
}

/** @throws OracleError INPUT_INVALID for a name without a code. */
function encodeName<Name extends string>(field: string, codes: Record<Name, number>, name: Name): number {
  if (!Object.hasOwn(codes, name)) throw invalidField(field, `"${name}" is none of ${Object.keys(codes).join(', ')}`);
  return codes[name];
}

/** @throws OracleError INPUT_INVALID for an unknown code. */
export function decodeCode<Name extends string>(field: string, codes: Record<Name, number>, code: number): Name {
  const name = (Object.keys(codes) as Name[]).find((key) => codes[key] === code);
  if (name === undefined) throw invalidField(field, `${code} is none of the codes ${Object.values(codes).join(', ')}`);
  return name;
}

/** @throws OracleError INPUT_INVALID unless `value` is an integer from `min` to `max` */
function requireWholeNumber(field: string, value: number, max = Number.MAX_SAFE_INTEGER, min = 0): number {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw invalidField(field, `${value} is not a whole number from ${min} to ${max}`);
  }
  return value;
}

/** @throws OracleError INPUT_INVALID unless `value` is 32 bytes in hex */
export function requireBytes32(field: string, value: Hex): Hex {
  if (!/^0x[0-9a-fA-F]{64}$/.test(value)) throw invalidField(field, 'it must be 0x and 64 hex characters');
  return value;
}

function invalidField(field: string, why: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${why}`, { field });
}

const TAG = 'oracle-quantiles-1';
/** Levels .005 to .995. */
export const DISTRIBUTION_SIZE = 199;
/** Unit of a committed quantile, as a log return. */
const QUANTILE_UNIT = 1e-6;

/** A committed predictive distribution with the salt that opens its digest. */
export interface DistributionOpening {
  /** `YYYY-MM-DD:<h>d`. */
  predictionId: string;
  /** Such as `m1.2026-08-14`. */
  modelVersion: string;
  /** 32 bytes. */
  salt: Hex;
  /** The 199 quantiles, at .005 to .995, of the log return over the horizon, in millionths. */
  quantilesMicro: readonly number[];
}

/**
 * sha2-256 of the ASCII text `oracle-quantiles-1\n<predictionId> <modelVersion>\n`, the salt, and the quantiles as big-endian int32.
 * @throws OracleError INPUT_INVALID naming the field
 */
export function computeDistributionDigest({ predictionId, modelVersion, salt, quantilesMicro }: DistributionOpening): Hex {
  const head = new TextEncoder().encode(`${TAG}\n${predictionId} ${modelVersion}\n`);
  const bytes = new Uint8Array(head.length + 32 + DISTRIBUTION_SIZE * 4);
  bytes.set(head);
  const view = new DataView(bytes.buffer);
  const saltHex = requireBytes32('salt', salt).slice(2);
  for (let index = 0; index < 32; index++) bytes[head.length + index] = Number.parseInt(saltHex.slice(2 * index, 2 * index + 2), 16);
  for (const [index, value] of requireQuantiles(quantilesMicro).entries()) view.setInt32(head.length + 32 + 4 * index, value);
  return sha256(bytes);
}

/** Rounds quantiles of log returns to the committed unit. */
export function toQuantilesMicro(logReturns: readonly number[]): number[] {
  return logReturns.map((value) => Math.max(-MAX_INT32, Math.min(MAX_INT32, Math.round(value / QUANTILE_UNIT))) + 0);
}

export function fromQuantilesMicro(quantilesMicro: readonly number[]): number[] {
  return quantilesMicro.map((value) => value * QUANTILE_UNIT);
}

function requireQuantiles(values: readonly number[]): readonly number[] {
  const isValid = (value: number, index: number) =>
    Number.isInteger(value) && Math.abs(value) <= MAX_INT32 && (index === 0 || value >= values[index - 1]!);
  if (values.length === DISTRIBUTION_SIZE && values.every(isValid)) return values;
  throw invalidField('quantilesMicro', `they must be ${DISTRIBUTION_SIZE} ascending whole numbers within 32 bits`);
}

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
    /** @throws OracleError CHAIN_UNREACHABLE */
    readBlockNumber: async () => Number(await readBlockNumber(chain)),
    /** @throws OracleError CHAIN_UNREACHABLE */
    readBlockTime: (blockNumber: number) => readBlockTime(chain, BigInt(blockNumber)),
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
