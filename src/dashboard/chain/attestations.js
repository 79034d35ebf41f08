import { Unreadable } from './abi.js';
import { callDataOf, decodeAttestation } from './eas.js';
import { callAll } from './rpc.js';

/** @import { Asked } from './blocks.js' */
/** @import { Attestation } from './eas.js' */
/** @import { Answer } from './rpc.js' */

/**
 * An attestation as an endpoint answers with it; null where its chain has none. A problem is that it could not be read at all.
 * @typedef {{ attestation: Attestation | null } | { problem: string }} Reading
 */

/** What has been read, by uid. @typedef {Map<string, Reading>} Readings */

/** @param {string} eas @param {string} uid */
export function readingCall(eas, uid) {
  return { method: 'eth_call', params: [{ to: eas, data: callDataOf(uid) }, 'latest'] };
}

/**
 * Adds what the attestation contract holds under uids, where that has not been read.
 * @param {Readings} readings
 * @param {readonly string[]} uids
 * @param {Asked & { eas: string }} asked
 * @throws {Unanswered}
 */
export async function readAttestations(readings, uids, { eas, endpoint, signal }) {
  const missing = uids.filter((uid) => !('attestation' in (readings.get(uid) ?? {})));
  const answers = await callAll(
    endpoint,
    missing.map((uid) => readingCall(eas, uid)),
    { signal },
  );
  for (const [index, uid] of missing.entries()) readings.set(uid, readingOf(answers[index]));
}

/** @param {Answer} answer @returns {Reading} */
export function readingOf(answer) {
  if ('problem' in answer) return answer;
  try {
    return { attestation: decodeAttestation(answer.result) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { problem: `the endpoint's answer cannot be read: ${error.message}` };
  }
}
