import { DecodeError } from './abi.js';
import { decodeAttestation, encodeGetAttestation } from './eas.js';
import { callAll } from './rpc.js';

/** @import { ChainRequest } from './blocks.js' */
/** @import { Attestation } from './eas.js' */
/** @import { RpcOutcome } from './rpc.js' */

/**
 * `attestation` is null when the chain has none with that uid; `problem` says why it could not be read.
 * @typedef {{ attestation: Attestation | null } | { problem: string }} AttestationRead
 */

/** By uid. @typedef {Map<string, AttestationRead>} AttestationReads */

/** @param {string} eas @param {string} uid */
export function buildAttestationCall(eas, uid) {
  return { method: 'eth_call', params: [{ to: eas, data: encodeGetAttestation(uid) }, 'latest'] };
}

/**
 * Reads the attestations that are not in `readings` yet.
 * @param {AttestationReads} readings @param {readonly string[]} uids @param {ChainRequest & { eas: string }} asked @throws {Unanswered}
 */
export async function readAttestations(readings, uids, { eas, endpoint, signal }) {
  const missing = uids.filter((uid) => !('attestation' in (readings.get(uid) ?? {})));
  const answers = await callAll(
    endpoint,
    missing.map((uid) => buildAttestationCall(eas, uid)),
    { signal },
  );
  for (const [index, uid] of missing.entries()) readings.set(uid, parseAttestationAnswer(answers[index]));
}

/** @param {RpcOutcome} answer @returns {AttestationRead} */
export function parseAttestationAnswer(answer) {
  if ('problem' in answer) return answer;
  try {
    return { attestation: decodeAttestation(answer.result) };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { problem: `the endpoint's answer cannot be read: ${error.message}` };
  }
}
