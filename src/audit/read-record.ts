import { type Address, type Hex, zeroHash } from 'viem';
import {
  decodePrediction,
  decodeResolution,
  type PredictionData,
  type ResolutionData,
  type SchemaName,
  schemaUid,
} from '../chain/schemas.ts';
import { isOracleError } from '../errors.ts';
import { isUidOf, uidOf } from './attestation-uid.ts';
import { type AuditChain, type RawAttestation, readAttestation, readBlockTime, readMany } from './chain.ts';
import { type FindOptions, findAttestations } from './find.ts';
import { type Findings, NOTHING } from './findings.ts';
import { iso } from './iso.ts';

/** An attestation of the record: what was said, and when. */
export interface Attestation<Data> {
  uid: Hex;
  /** Time of its block. */
  at: Date;
  refUid: Hex;
  data: Data;
}

export type Prediction = Attestation<PredictionData>;
export type Revelation = Attestation<ResolutionData>;

/** Everything that the attester has put on chain, each in the order of the chain. */
export interface ChainRecord {
  predictions: Prediction[];
  revelations: Revelation[];
}

export interface ReadOptions extends Omit<FindOptions, 'onProgress'> {
  onProgress(stage: string, done: number, total: number): void;
}

/** Finds, reads and decodes the attester's attestations. @throws OracleError CHAIN_UNREACHABLE */
export async function readChainRecord(chain: AuditChain, options: ReadOptions, findings: Findings): Promise<ChainRecord> {
  const read = async <Data>(schema: SchemaName, decode: (data: Hex) => Data): Promise<Attestation<Data>[]> => {
    const stage = `${schema}s`;
    const onProgress = (done: number, total: number) => options.onProgress(`looking for ${stage}`, done, total);
    const found = await findAttestations(chain, schema, { ...options, onProgress });
    const raw = await readMany(found, {
      parallel: chain.parallel,
      read: ({ uid }) => readAttestation(chain, uid),
      onRead: (done) => options.onProgress(`reading ${stage}`, done, found.length),
    });
    const times = await blockTimes(chain, found);
    return raw.flatMap((attestation, index) => {
      const { uid, blockNumber } = found[index];
      const at = times.get(blockNumber) as Date;
      return understood(attestation, { uid, schema, attester: options.attester, at, decode }, findings) ?? [];
    });
  };
  const predictions = (await read('prediction', decodePrediction)).filter((prediction) => isPlausible(prediction, findings));
  return { predictions, revelations: await read('resolution', decodeResolution) };
}

/** What an attestation must be to be part of a record. */
export interface Expected<Data> {
  uid: Hex;
  schema: SchemaName;
  attester: Address;
  /** Time of its block. */
  at: Date;
  decode(data: Hex): Data;
}

/** An attestation that is well formed and can be read; null otherwise, and the findings say why. */
export function understood<Data>(raw: RawAttestation, expected: Expected<Data>, findings: Findings): Attestation<Data> | null {
  if (!isWellFormed(raw, expected, findings)) return null;
  const data = decoded(raw, expected.decode, findings);
  return data === null ? null : { uid: expected.uid, at: expected.at, refUid: raw.refUID, data };
}

async function blockTimes(chain: AuditChain, found: readonly { blockNumber: number }[]): Promise<ReadonlyMap<number, Date>> {
  const numbers = [...new Set(found.map(({ blockNumber }) => blockNumber))];
  const read = (blockNumber: number) => readBlockTime(chain, blockNumber);
  const times = await readMany(numbers, { parallel: chain.parallel, read, onRead: () => {} });
  return new Map(numbers.map((blockNumber, index) => [blockNumber, times[index]]));
}

/** Numbers that no record can have are not reckoned with: dates of them do not exist. */
const MOST = 200_000;

export function isPlausible({ uid, data: { day, sequence } }: Prediction, findings: Findings): boolean {
  const numbers = { day, sequence };
  const wrong = (Object.keys(numbers) as (keyof typeof numbers)[]).filter((field) => !(numbers[field] >= 1 && numbers[field] <= MOST));
  for (const field of wrong) {
    const because = `${field} ${numbers[field]} is none that a record can have`;
    findings.wrong('form', { ...NOTHING, uid }, { field, expected: `1 to ${MOST}`, found: numbers[field], because });
  }
  return wrong.length === 0;
}

/** What an attestation must be whatever it says; one that can be withdrawn commits to nothing. */
function isWellFormed(raw: RawAttestation, { uid, schema, attester, at }: Omit<Expected<unknown>, 'decode'>, findings: Findings): boolean {
  const subject = { ...NOTHING, uid };
  if (raw.uid === zeroHash) {
    findings.wrong('form', subject, {
      field: 'uid',
      expected: uid,
      found: null,
      because: 'the chain has an event of it, and no attestation',
    });
    return false;
  }
  // That of the block is gone by: what a contract tells may have been written at any time.
  const because = 'the contract tells another time than that of the block';
  findings.compare('form', subject, { field: 'time', expected: iso(at), found: iso(Number(raw.time) * 1000), because });
  const { schema: schemaFound, attester: by, revocable, revocationTime, expirationTime } = raw;
  const digest = {
    field: 'uid',
    expected: uid,
    found: isUidOf(uid, raw) ? uid : uidOf(raw),
    because: 'the uid is not that of what it says',
  };
  return [
    findings.compare('form', subject, digest),
    findings.compare('form', subject, { field: 'schema', expected: schemaUid(schema), found: schemaFound }),
    findings.compare('form', subject, { field: 'attester', expected: attester, found: by }),
    findings.compare('form', subject, { field: 'revocable', expected: false, found: revocable || revocationTime > 0n }),
    findings.compare('form', subject, { field: 'expirationTime', expected: 0, found: Number(expirationTime) }),
  ].every(Boolean);
}

function decoded<Data>({ uid, data }: RawAttestation, decode: (data: Hex) => Data, findings: Findings): Data | null {
  try {
    return decode(data);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    findings.wrong('form', { ...NOTHING, uid }, { field: 'data', expected: 'readable', found: 'unreadable', because: error.message });
    return null;
  }
}
