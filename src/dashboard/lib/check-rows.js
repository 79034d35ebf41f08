import { Unreadable } from './abi.js';
import { ask } from './api.js';
import { cidOf } from './cid.js';
import { callDataOf, decodeAttestation, decodePrediction, isUidOfContent } from './eas.js';
import { createMetadataReader } from './metadata.js';
import { callAll, Unanswered } from './rpc.js';
import { checkRow, unchecked } from './verify.js';

/** @import { Answers, ScorecardRow } from './answers.ts' */
/** @import { Attestation } from './eas.js' */
/** @import { Answer } from './rpc.js' */
/** @import { Evidence, Finding, Reading } from './verify.js' */

const ROWS_A_TURN = 10;
/** The Ethereum Attestation Service is at the same place on every chain of the OP Stack. */
const OP_STACK = { ids: [10, 8_453, 84_532], eas: '0x4200000000000000000000000000000000000021' };

const readMetadata = createMetadataReader({ fetch: (path, request) => fetch(new URL(path, document.baseURI), request), now: Date.now });

/**
 * What it takes to check rows: those themselves, all of the same horizon that are known, and where the chain is read.
 * @typedef {{
 *   rows: readonly ScorecardRow[], known: readonly ScorecardRow[], info: Answers['info'], endpoint: string, token: string | null,
 *   signal: AbortSignal, onFinding: (row: ScorecardRow, finding: Finding) => void,
 * }} Task
 */

/**
 * Checks rows one after the other, and tells of each; ends when all are told of, or when it is aborted.
 * @param {Task} task
 */
export async function checkRows(task) {
  const { rows, signal, onFinding } = task;
  let done = 0;
  try {
    await assertChain(task);
    const salts = await saltsFor(task);
    for (; done < rows.length; done += ROWS_A_TURN) await checkSome(task, rows.slice(done, done + ROWS_A_TURN), salts);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Unanswered)) throw error;
    for (const row of rows.slice(done)) onFinding(row, unchecked(error.message));
  }
}

/**
 * That the endpoint is of the chain of the record, and the contract the one that cannot be another.
 * @param {Task} task
 */
async function assertChain({ info: { chain, contracts }, endpoint, signal }) {
  if (OP_STACK.ids.includes(chain.id) && contracts.eas.toLowerCase() !== OP_STACK.eas) {
    throw new Unanswered(
      `the service names ${contracts.eas} as the attestation contract, which on chain ${chain.id} is at ${OP_STACK.eas}`,
    );
  }
  const [answer] = await callAll(endpoint, [{ method: 'eth_chainId', params: [] }], { signal });
  const id = Number(resultOf(answer));
  if (id === chain.id) return;
  const its = Number.isSafeInteger(id) && id > 0 ? `of chain ${id}` : 'of no chain that it could name';
  throw new Unanswered(`${hostOf(endpoint)} is ${its}, the record is on chain ${chain.id}`);
}

/** @param {string} url */
function hostOf(url) {
  return new URL(url).host;
}

/** @param {Answer} answer */
function resultOf(answer) {
  if ('problem' in answer) throw new Unanswered(answer.problem);
  return answer.result;
}

/**
 * @param {Task} task
 * @param {readonly ScorecardRow[]} rows
 * @param {ReadonlyMap<string, string>} salts
 */
async function checkSome(task, rows, salts) {
  const readings = await readAttestations(task, rows);
  for (const row of rows) {
    const prediction = readingIn(readings, row.attestationUid);
    /** @type {Evidence} */
    const evidence = {
      row,
      attester: task.info.chain.attester,
      prediction,
      resolution: row.resolutionUid === null ? null : readingIn(readings, row.resolutionUid),
      previousUid: task.known.find(({ sequence }) => sequence === row.sequence - 1)?.attestationUid ?? null,
      salt: salts.get(String(row.attestationUid)) ?? null,
      metadata: await metadataOf(prediction, task.signal),
      now: new Date(),
    };
    task.signal.throwIfAborted();
    task.onFinding(row, checkRow(evidence));
  }
}

/**
 * @param {Task} task
 * @param {readonly ScorecardRow[]} rows
 * @returns {Promise<ReadonlyMap<string, Reading>>}
 */
async function readAttestations({ info, endpoint, signal }, rows) {
  const uids = rows.flatMap(({ attestationUid, resolutionUid }) => [attestationUid, resolutionUid]).filter((uid) => uid !== null);
  const calls = uids.map((uid) => ({ method: 'eth_call', params: [{ to: info.contracts.eas, data: callDataOf(uid) }, 'latest'] }));
  const answers = await callAll(endpoint, calls, { signal });
  return new Map(uids.map((uid, index) => [uid, readingOf(answers[index])]));
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

/**
 * @param {ReadonlyMap<string, Reading>} readings
 * @param {string | null} uid
 * @returns {Reading}
 */
function readingIn(readings, uid) {
  return readings.get(String(uid)) ?? { problem: 'it is not on chain yet' };
}

/**
 * The bytes behind the digest of a prediction, as the service publishes them.
 * @param {Reading} reading
 * @param {AbortSignal} signal
 * @returns {Promise<Evidence['metadata']>}
 */
async function metadataOf(reading, signal) {
  const digest = digestIn('attestation' in reading ? reading.attestation : null);
  return digest === null ? null : readMetadata(cidOf(digest), signal);
}

/** What an attestation names that is not what its uid says, nobody has published. @param {Attestation | null} attestation */
function digestIn(attestation) {
  if (attestation === null || !isUidOfContent(attestation)) return null;
  try {
    return decodePrediction(attestation).metadata;
  } catch {
    // That it cannot be read is found by the check itself.
    return null;
  }
}

/**
 * Salts of forecasts that are told before they are resolved, by the uid of their prediction; asked for only where some are.
 * @param {Task} task
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
async function saltsFor({ rows, token, info }) {
  const told = rows.some(({ direction, resolutionUid }) => direction !== null && resolutionUid === null);
  if (!told) return new Map();
  try {
    const { most } = info.limits.attestationHistory;
    /** @type {{ attestations: { type: string, uid: string, salt: string | null }[] }} */
    const { attestations } = await ask(`api/svc/onchain-oracle/history?limit=${most}`, { token });
    return new Map(attestations.flatMap(({ type, uid, salt }) => (type === 'prediction' && salt !== null ? [[uid, salt]] : [])));
  } catch {
    // Without them these commitments stay closed, and the finding says so.
    return new Map();
  }
}
