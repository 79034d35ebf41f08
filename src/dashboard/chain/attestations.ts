import { DecodeError } from './abi.ts';
import type { ChainRequest } from './blocks.ts';
import { type Attestation, decodeAttestation, encodeGetAttestation } from './eas.ts';
import { callAll, type RpcOutcome } from './rpc.ts';

/** `attestation` is null when the chain has none with that uid; `problem` says why it could not be read. */
export type AttestationRead = { attestation: Attestation | null } | { problem: string };

/** By uid. */
export type AttestationReads = Map<string, AttestationRead>;

export function buildAttestationCall(eas: string, uid: string) {
  return { method: 'eth_call', params: [{ to: eas, data: encodeGetAttestation(uid) }, 'latest'] };
}

/** Reads the attestations that are not in `readings` yet. @throws {Unanswered} */
export async function readAttestations(
  readings: AttestationReads,
  uids: readonly string[],
  { eas, endpoint, signal }: ChainRequest & { eas: string },
) {
  const missing = uids.filter((uid) => !('attestation' in (readings.get(uid) ?? {})));
  const answers = await callAll(
    endpoint,
    missing.map((uid) => buildAttestationCall(eas, uid)),
    { signal },
  );
  for (const [index, uid] of missing.entries()) readings.set(uid, parseAttestationAnswer(answers[index]));
}

export function parseAttestationAnswer(answer: RpcOutcome): AttestationRead {
  if ('problem' in answer) return answer;
  try {
    return { attestation: decodeAttestation(answer.result) };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { problem: `the endpoint's answer cannot be read: ${error.message}` };
  }
}
