import { decodeAbiParameters, type Hex, parseAbiParameters, toFunctionSelector, zeroHash } from 'viem';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import type { AttestationEvidence, Unread } from '../../verify/evidence.ts';
import type { ChainRequest } from './blocks.ts';
import { callAll, type RpcOutcome } from './rpc.ts';

/** Null when the chain has none with that uid. */
export type AttestationRead = RawAttestation | Unread | null;

/** By uid. */
export type AttestationReads = Map<string, AttestationRead>;

const SELECTOR = toFunctionSelector('getAttestation(bytes32)');
const [ATTESTATION] = parseAbiParameters([
  'Attestation attestation',
  'struct Attestation { bytes32 uid; bytes32 schema; uint64 time; uint64 expirationTime; uint64 revocationTime; bytes32 refUID; address recipient; address attester; bool revocable; bytes data; }',
]);

export function buildAttestationCall(eas: string, uid: string) {
  return { method: 'eth_call', params: [{ to: eas, data: `${SELECTOR}${uid.slice(2)}` }, 'latest'] };
}

/** Reads the attestations that are not in `readings` yet. @throws {RpcUnavailableError} */
export async function readAttestations(
  readings: AttestationReads,
  uids: readonly string[],
  { eas, endpoint, signal }: ChainRequest & { eas: string },
) {
  const missing = uids.filter((uid) => isMissing(readings.get(uid)));
  const answers = await callAll(
    endpoint,
    missing.map((uid) => buildAttestationCall(eas, uid)),
    { signal },
  );
  for (const [index, uid] of missing.entries()) readings.set(uid, parseAttestationAnswer(answers[index]));
}

const isMissing = (reading: AttestationRead | undefined) => reading === undefined || (reading !== null && 'problem' in reading);

export function parseAttestationAnswer(answer: RpcOutcome): AttestationRead {
  if ('problem' in answer) return answer;
  try {
    const [raw] = decodeAbiParameters([ATTESTATION], answer.result as Hex);
    return raw.uid === zeroHash ? null : raw;
  } catch {
    return { problem: "the endpoint's answer cannot be read as an attestation" };
  }
}

/** A uid that is none exists on no chain. */
export function toEvidence<Schema extends SchemaName>(
  readings: AttestationReads,
  uid: string,
  schema: Schema,
): AttestationEvidence<Schema> {
  return { uid: uid.toLowerCase() as Hex, schema, content: readings.get(uid) ?? null, blockAt: null };
}
