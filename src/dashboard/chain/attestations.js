import { DecodeError } from './abi.js';
import { decodeAttestation, encodeGetAttestation } from './eas.js';
import { callAll } from './rpc.js';

/** @import { ChainRequest } from './blocks.js' */
/** @import { Attestation } from './eas.js' */
/** @import { RpcOutcome } from './rpc.js' */

/**
 * An attestation as an endpoint answers with it; null where its chain has none. A problem is that it could not be read at all.
 * @typedef {{ attestation: Attestation | null } | { problem: string }} AttestationRead
 */

/** What has been read, by uid. @typedef {Map<string, AttestationRead>} AttestationReads */

/** @param {string} eas @param {string} uid */
export function buildAttestationCall(eas, uid) {
  return { method: 'eth_call', params: [{ to: eas, data: encodeGetAttestation(uid) }, 'latest'] };
}

/**
 * Adds what the attestation contract holds under uids, where that has not been read.
 * @param {AttestationReads} readings
 * @param {readonly string[]} uids
 * @param {ChainRequest & { eas: string }} asked
 * @throws {Unanswered}
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
