import { type Address, type Hex, zeroHash } from 'viem';
import {
  decodePrediction,
  decodeResolution,
  getSchemaUid,
  type PredictionData,
  type ResolutionData,
  type SchemaName,
} from '../../chain/eas/schemas.ts';
import { isOracleError } from '../../platform/errors.ts';
import { type Findings, NO_SUBJECT } from '../checks/findings.ts';
import { formatInstant } from '../checks/format-instant.ts';
import { deriveAttestationUid, matchesAttestationUid } from './attestation-uid.ts';
import { type AuditChain, type RawAttestation, readAttestation, readBlockTime, readInBatches } from './audit-chain.ts';
import { type AttestationSearchOptions, findAttestations } from './find-attestations.ts';

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

/** What an attestation must be to be part of a record. */
export interface AttestationExpectation<Data> {
  uid: Hex;
  schema: SchemaName;
  attester: Address;
  /** Time of its block. */
  at: Date;
  decode(data: Hex): Data;
}

/** An attestation that is well formed and can be read; null otherwise, and the findings say why. */
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

/** Numbers that no record can have are not reckoned with: dates of them do not exist. */
const MAX_RECORD_NUMBER = 200_000;

export function isPlausible({ uid, data: { day, sequence } }: Prediction, findings: Findings): boolean {
  const numbers = { day, sequence };
  const implausible = (Object.keys(numbers) as (keyof typeof numbers)[]).filter(
    (field) => !(numbers[field] >= 1 && numbers[field] <= MAX_RECORD_NUMBER),
  );
  for (const field of implausible) {
    const because = `${field} ${numbers[field]} is none that a record can have`;
    findings.addDifference(
      'form',
      { ...NO_SUBJECT, uid },
      { field, expected: `1 to ${MAX_RECORD_NUMBER}`, found: numbers[field], because },
    );
  }
  return implausible.length === 0;
}

/** What an attestation must be whatever it says; one that can be withdrawn commits to nothing. */
function isWellFormed(
  raw: RawAttestation,
  { uid, schema, attester, at }: Omit<AttestationExpectation<unknown>, 'decode'>,
  findings: Findings,
): boolean {
  const subject = { ...NO_SUBJECT, uid };
  if (raw.uid === zeroHash) {
    findings.addDifference('form', subject, {
      field: 'uid',
      expected: uid,
      found: null,
      because: 'the chain has an event of it, and no attestation',
    });
    return false;
  }
  // That of the block is gone by: what a contract tells may have been written at any time.
  const because = 'the contract tells another time than that of the block';
  findings.compare('form', subject, { field: 'time', expected: formatInstant(at), found: formatInstant(Number(raw.time) * 1000), because });
  const { schema: schemaFound, attester: by, revocable, revocationTime, expirationTime } = raw;
  const digest = {
    field: 'uid',
    expected: uid,
    found: matchesAttestationUid(uid, raw) ? uid : deriveAttestationUid(raw),
    because: 'the uid is not that of what it says',
  };
  return [
    findings.compare('form', subject, digest),
    findings.compare('form', subject, { field: 'schema', expected: getSchemaUid(schema), found: schemaFound }),
    findings.compare('form', subject, { field: 'attester', expected: attester, found: by }),
    findings.compare('form', subject, { field: 'revocable', expected: false, found: revocable || revocationTime > 0n }),
    findings.compare('form', subject, { field: 'expirationTime', expected: 0, found: Number(expirationTime) }),
  ].every(Boolean);
}

function decodeData<Data>({ uid, data }: RawAttestation, decode: (data: Hex) => Data, findings: Findings): Data | null {
  try {
    return decode(data);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    findings.addDifference(
      'form',
      { ...NO_SUBJECT, uid },
      { field: 'data', expected: 'readable', found: 'unreadable', because: error.message },
    );
    return null;
  }
}
