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

/**
 * What the attestation contract holds under uids, in their order.
 * @param {readonly string[]} uids
 * @param {Asked & { eas: string }} asked
 * @returns {Promise<Reading[]>}
 * @throws {Unanswered}
 */
export async function readAttestations(uids, { eas, endpoint, signal }) {
  const calls = uids.map((uid) => ({ method: 'eth_call', params: [{ to: eas, data: callDataOf(uid) }, 'latest'] }));
  return (await callAll(endpoint, calls, { signal })).map(readingOf);
}

/** @param {Answer} answer @returns {Reading} */
function readingOf(answer) {
  if ('problem' in answer) return answer;
  try {
    return { attestation: decodeAttestation(answer.result) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { problem: `the endpoint's answer cannot be read: ${error.message}` };
  }
}
