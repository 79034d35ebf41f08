import { type Address, type Hex, zeroHash } from 'viem';
import {
  decodePrediction,
  decodeResolution,
  getSchemaUid,
  type PredictionData,
  type ResolutionData,
  type SchemaName,
} from '../../chain/eas/attestation-schemas.ts';
import { isOracleError } from '../../platform/errors.ts';
import { type ComparedValue, type Findings, NO_SUBJECT } from '../checks/findings.ts';
import { formatInstant } from '../checks/format-instant.ts';
import { deriveAttestationUid, matchesAttestationUid } from './attestation-uid.ts';
import { type AuditChain, type RawAttestation, readAttestation, readBlockTime, readInBatches } from './audit-chain.ts';
import { type AttestationSearchOptions, findAttestations } from './find-attestations.ts';

export interface Attestation<Data> {
  uid: Hex;
  /** Time of its block. */
  at: Date;
  refUid: Hex;
  data: Data;
}

export type Prediction = Attestation<PredictionData>;
export type Revelation = Attestation<ResolutionData>;

/** All attestations of the attester, in chain order. */
export interface ChainRecord {
  predictions: Prediction[];
  revelations: Revelation[];
}

export interface ReadRecordOptions extends Omit<AttestationSearchOptions, 'onProgress'> {
  onProgress(stage: string, done: number, total: number): void;
}

/** Finds, reads and decodes the attester's attestations. @throws OracleError CHAIN_UNREACHABLE */
export async function readChainRecord(chain: AuditChain, options: ReadRecordOptions, findings: Findings): Promise<ChainRecord> {
  const read = async <Data>(schema: SchemaName, decode: (data: Hex) => Data): Promise<Attestation<Data>[]> => {
    const stage = `${schema}s`;
    const onProgress = (done: number, total: number) => options.onProgress(`looking for ${stage}`, done, total);
    const found = await findAttestations(chain, schema, { ...options, onProgress });
    const raw = await readInBatches(found, {
      parallel: chain.parallel,
      read: ({ uid }) => readAttestation(chain, uid),
      onRead: (done) => options.onProgress(`reading ${stage}`, done, found.length),
    });
    const times = await readBlockTimes(chain, found);
    return raw.flatMap((attestation, index) => {
      const { uid, blockNumber } = found[index];
      const at = times.get(blockNumber) as Date;
      return validateAttestation(attestation, { uid, schema, attester: options.attester, at, decode }, findings) ?? [];
    });
  };
  const predictions = (await read('prediction', decodePrediction)).filter((prediction) => isPlausible(prediction, findings));
  return { predictions, revelations: await read('resolution', decodeResolution) };
}

interface AttestationExpectation<Data> {
  uid: Hex;
  schema: SchemaName;
  attester: Address;
  /** Time of its block. */
  at: Date;
  decode(data: Hex): Data;
}

/** Decodes a well-formed attestation; otherwise reports the reason and returns null. */
export function validateAttestation<Data>(
  raw: RawAttestation,
  expected: AttestationExpectation<Data>,
  findings: Findings,
): Attestation<Data> | null {
  if (!isWellFormed(raw, expected, findings)) return null;
  const data = decodeData(raw, expected.decode, findings);
  return data === null ? null : { uid: expected.uid, at: expected.at, refUid: raw.refUID, data };
}

async function readBlockTimes(chain: AuditChain, found: readonly { blockNumber: number }[]): Promise<ReadonlyMap<number, Date>> {
  const numbers = [...new Set(found.map(({ blockNumber }) => blockNumber))];
  const read = (blockNumber: number) => readBlockTime(chain, blockNumber);
  const times = await readInBatches(numbers, { parallel: chain.parallel, read, onRead: () => {} });
  return new Map(numbers.map((blockNumber, index) => [blockNumber, times[index]]));
}

/** Larger numbers have no valid date. */
const MAX_RECORD_NUMBER = 200_000;

export function isPlausible({ uid, data: { day, sequence } }: Prediction, findings: Findings): boolean {
  const implausible = Object.entries({ day, sequence }).filter(([, found]) => !(found >= 1 && found <= MAX_RECORD_NUMBER));
  for (const [field, found] of implausible) {
    const because = `${field} ${found} is not possible in a record`;
    findings.addDifference('form', { ...NO_SUBJECT, uid }, { field, expected: `1 to ${MAX_RECORD_NUMBER}`, found, because });
  }
  return implausible.length === 0;
}

/** Checks everything but the data. A revocable attestation is no commitment. */
function isWellFormed(
  raw: RawAttestation,
  { uid, schema, attester, at }: Omit<AttestationExpectation<unknown>, 'decode'>,
  findings: Findings,
): boolean {
  const subject = { ...NO_SUBJECT, uid };
  if (raw.uid === zeroHash) {
    const because = 'the chain has its event but no attestation';
    findings.addDifference('form', subject, { field: 'uid', expected: uid, found: null, because });
    return false;
  }
  const compare = (field: string, expected: ComparedValue, found: ComparedValue, because?: string) =>
    findings.compare('form', subject, { field, expected, found, because });
  // The block time is authoritative: a contract can store any time.
  const storedTime = formatInstant(Number(raw.time) * 1000);
  compare('time', formatInstant(at), storedTime, 'the stored time differs from the block time');
  const derivedUid = matchesAttestationUid(uid, raw) ? uid : deriveAttestationUid(raw);
  return [
    compare('uid', uid, derivedUid, 'the uid does not match the content'),
    compare('schema', getSchemaUid(schema), raw.schema),
    compare('attester', attester, raw.attester),
    compare('revocable', false, raw.revocable || raw.revocationTime > 0n),
    compare('expirationTime', 0, Number(raw.expirationTime)),
  ].every(Boolean);
}

function decodeData<Data>({ uid, data }: RawAttestation, decode: (data: Hex) => Data, findings: Findings): Data | null {
  try {
    return decode(data);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    const because = error.message;
    findings.addDifference('form', { ...NO_SUBJECT, uid }, { field: 'data', expected: 'readable', found: 'unreadable', because });
    return null;
  }
}
