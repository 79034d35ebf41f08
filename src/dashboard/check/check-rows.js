import { readAttestations, readingCall, readingOf } from '../chain/attestations.js';
import { firstCalls } from '../chain/blocks.js';
import { askChain } from '../chain/chain-asked.js';
import { cidOf } from '../chain/cid.js';
import { decodePrediction, isUidOfContent } from '../chain/eas.js';
import { createMetadataReader } from '../chain/metadata.js';
import { Unanswered } from '../chain/rpc.js';
import { ask } from '../state/api.js';
import { commitmentsAround, timeAround } from './commitments.js';
import { neighboursOf } from './neighbours.js';
import { checkRow, unchecked } from './verify.js';

/** @import { Answers, ScorecardRow } from '../state/answers.ts' */
/** @import { Reading, Readings } from '../chain/attestations.js' */
/** @import { Attestation } from '../chain/eas.js' */
/** @import { Commitments } from './commitments.js' */
/** @import { Shown } from './neighbours.js' */
/** @import { Evidence, Finding } from './verify.js' */

const ROWS_A_TURN = 25;
const UID = /^0x[0-9a-f]{64}$/i;

const readMetadata = createMetadataReader({ fetch: (path, request) => fetch(new URL(path, document.baseURI), request), now: Date.now });

/**
 * What it takes to check rows: those themselves, the record that they stand in, and where the chain is read.
 * @typedef {{
 *   rows: readonly ScorecardRow[], shown: Shown, info: Answers['info'], endpoint: string, token: string | null, signal: AbortSignal,
 *   onFinding: (row: ScorecardRow, finding: Finding) => void,
 * }} Task
 */

/**
 * What is looked up once for all of them.
 * @typedef {{ salts: ReadonlyMap<string, string>, commitments: Commitments, readings: Readings }} Found
 */

/**
 * Checks rows one after the other, and tells of each; ends when all are told of, or when it is aborted.
 * @param {Task} task
 */
export async function checkRows(task) {
  const { rows, signal, onFinding } = task;
  let done = 0;
  try {
    const { readings, told } = await openChain(task);
    const found = { readings, salts: await saltsFor(task), commitments: await commitmentsAround(task, { readings, told }) };
    for (; done < rows.length; done += ROWS_A_TURN) await checkSome(task, rows.slice(done, done + ROWS_A_TURN), found);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Unanswered)) reportError(error);
    const reason = error instanceof Unanswered ? error.message : 'this page has failed at it';
    for (const row of rows.slice(done)) onFinding(row, unchecked(reason));
  }
}

/**
 * Asks whether it is the chain of the record, and at once what the search for others begins with, and for the attestations of a single row.
 * @param {Task} task
 */
async function openChain(task) {
  const { rows, shown, info, endpoint } = task;
  /** @type {Readings} */
  const readings = new Map();
  const first = firstCalls(timeAround(rows, readings), endpoint);
  const uids = rows.length === 1 ? uidsOf(rows, shown) : [];
  const answers = await askChain(task, [...first, ...uids.map((uid) => readingCall(info.contracts.eas, uid))]);
  for (const [index, uid] of uids.entries()) readings.set(uid, readingOf(answers[first.length + index]));
  return { readings, told: answers.slice(0, first.length) };
}

/**
 * @param {Task} task
 * @param {readonly ScorecardRow[]} rows
 * @param {Found} found
 */
async function checkSome(task, rows, found) {
  const { shown, info, endpoint, signal } = task;
  await readAttestations(found.readings, uidsOf(rows, shown), { eas: info.contracts.eas, endpoint, signal });
  for (const row of rows) task.onFinding(row, await findingOf(task, row, found));
}

/**
 * What is wrong with one row is not a fault of the others.
 * @param {Task} task
 * @param {ScorecardRow} row
 * @param {Found} found
 * @returns {Promise<Finding>}
 */
async function findingOf(task, row, found) {
  try {
    const finding = checkRow(await evidenceOf(task, row, found));
    task.signal.throwIfAborted();
    return finding;
  } catch (error) {
    if (task.signal.aborted) throw error;
    reportError(error);
    return unchecked('what the service says of it is not what a row can say');
  }
}

/**
 * @param {Task} task
 * @param {ScorecardRow} row
 * @param {Found} found
 * @returns {Promise<Evidence>}
 */
async function evidenceOf({ shown, info, signal }, row, { readings, salts, commitments }) {
  const prediction = readingIn(readings, row.attestationUid);
  const neighbours = neighboursOf(row, shown.known);
  const previousUid = neighbours.before?.attestationUid ?? null;
  return {
    ...{ row, horizon: shown.horizon, attester: info.chain.attester, prediction, neighbours, commitments },
    resolution: row.resolutionUid === null ? null : readingIn(readings, row.resolutionUid),
    previous: previousUid === null ? null : readingIn(readings, previousUid),
    salt: salts.get(String(row.attestationUid)) ?? null,
    metadata: await metadataOf(prediction, signal),
    now: new Date(),
  };
}

/** Of rows, and of the rows before them, each once. @param {readonly ScorecardRow[]} rows @param {Shown} shown */
function uidsOf(rows, { known }) {
  const named = rows.flatMap((row) => [row.attestationUid, row.resolutionUid, neighboursOf(row, known).before?.attestationUid]);
  return [...new Set(named.map(String))].filter((uid) => UID.test(uid));
}

/**
 * @param {Readings} readings
 * @param {string | null} uid
 * @returns {Reading}
 */
function readingIn(readings, uid) {
  // What is no uid at all no chain has.
  return uid === null ? { problem: 'it is not on chain yet' } : (readings.get(uid) ?? { attestation: null });
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
async function saltsFor({ rows, shown, token, info }) {
  const told = rows.some(({ direction, resolutionUid }) => direction !== null && resolutionUid === null);
  if (!told) return new Map();
  try {
    const { most } = info.limits.attestationHistory;
    /** @type {{ data: { type: string, uid: string, salt: string | null }[] }} */
    const { data } = await ask(`api/svc/onchain-oracle/history?horizon=${shown.horizon}&limit=${most}`, { token });
    return new Map(data.flatMap(({ type, uid, salt }) => (type === 'prediction' && salt !== null ? [[uid, salt]] : [])));
  } catch {
    // Without them these commitments stay closed, and the finding says so.
    return new Map();
  }
}
