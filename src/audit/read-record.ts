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
import { type AuditChain, type RawAttestation, readAttestation, readMany } from './chain.ts';
import { type FindOptions, findAttestations } from './find.ts';
import { type Findings, NOTHING } from './findings.ts';

/** An attestation of the record: what was said, and when. */
export interface Attestation<Data> {
  uid: Hex;
  /** Block time. */
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
    const uids = await findAttestations(chain, schema, { ...options, onProgress });
    const raw = await readMany(uids, {
      parallel: chain.parallel,
      read: (uid) => readAttestation(chain, uid),
      onRead: (done) => options.onProgress(`reading ${stage}`, done, uids.length),
    });
    return raw.flatMap((attestation, index) => {
      const uid = uids[index];
      if (!isWellFormed(attestation, { uid, schema, attester: options.attester }, findings)) return [];
      const data = decoded(attestation, decode, findings);
      return data === null ? [] : [{ uid, at: new Date(Number(attestation.time) * 1000), refUid: attestation.refUID, data }];
    });
  };
  const predictions = (await read('prediction', decodePrediction)).filter((prediction) => isPlausible(prediction, findings));
  return { predictions, revelations: await read('resolution', decodeResolution) };
}

/** Numbers that no record can have are not reckoned with: dates of them do not exist. */
const MOST = 200_000;

function isPlausible({ uid, data: { day, sequence } }: Prediction, findings: Findings): boolean {
  const numbers = { day, sequence };
  const wrong = (Object.keys(numbers) as (keyof typeof numbers)[]).filter((field) => !(numbers[field] >= 1 && numbers[field] <= MOST));
  for (const field of wrong) {
    const because = `${field} ${numbers[field]} is none that a record can have`;
    findings.wrong('form', { ...NOTHING, uid }, { field, expected: `1 to ${MOST}`, found: numbers[field], because });
  }
  return wrong.length === 0;
}

/** What an attestation must be whatever it says; one that can be withdrawn commits to nothing. */
function isWellFormed(
  raw: RawAttestation,
  { uid, schema, attester }: { uid: Hex; schema: SchemaName; attester: Address },
  findings: Findings,
): boolean {
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
  const { schema: schemaFound, attester: by, revocable, revocationTime, expirationTime } = raw;
  return [
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
