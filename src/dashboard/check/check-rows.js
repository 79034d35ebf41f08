import { buildAttestationCall, parseAttestationAnswer, readAttestations } from '../chain/attestations.js';
import { buildFirstCalls } from '../chain/blocks.js';
import { callRecordChain } from '../chain/call-chain.js';
import { encodeCid } from '../chain/cid.js';
import { decodePredictionData, isUidOfContent } from '../chain/eas.js';
import { createMetadataReader } from '../chain/metadata.js';
import { RpcUnavailableError } from '../chain/rpc.js';
import { findNeighbours } from '../record/neighbours.js';
import { requestApi } from '../state/api.js';
import { computeSearchRange, findCommitmentsAround } from './commitments.js';
import { buildUncheckedFinding, verifyRow } from './verify-row.js';

/** @import { ApiResponses, ScorecardRow } from '../state/responses.ts' */
/** @import { AttestationRead, AttestationReads } from '../chain/attestations.js' */
/** @import { Attestation } from '../chain/eas.js' */
/** @import { Commitments } from './commitments.js' */
/** @import { ShownRecord } from '../record/neighbours.js' */
/** @import { Evidence, Finding } from './verify-row.js' */

const ROWS_PER_BATCH = 25;
const UID_PATTERN = /^0x[0-9a-f]{64}$/i;

const readMetadata = createMetadataReader({ fetch: (path, request) => fetch(new URL(path, document.baseURI), request), now: Date.now });

/**
 * @typedef {{ rows: readonly ScorecardRow[], shown: ShownRecord, info: ApiResponses['info'], endpoint: string, token: string | null,
 * signal: AbortSignal, onFinding: (row: ScorecardRow, finding: Finding) => void, }} CheckTask
 */

/**
 * Evidence that is fetched once for all rows.
 * @typedef {{ salts: ReadonlyMap<string, string>, commitments: Commitments, readings: AttestationReads }} SharedEvidence
 */

/** Checks rows and reports each finding; stops when aborted. @param {CheckTask} task */
export async function checkRows(task) {
  const { rows, signal, onFinding } = task;
  let done = 0;
  try {
    const { readings, firstAnswers } = await startChainReads(task);
    const found = {
      readings,
      salts: await fetchSalts(task),
      commitments: await findCommitmentsAround(task, { readings, firstAnswers }),
    };
    for (; done < rows.length; done += ROWS_PER_BATCH) await checkBatch(task, rows.slice(done, done + ROWS_PER_BATCH), found);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof RpcUnavailableError)) reportError(error);
    const reason = error instanceof RpcUnavailableError ? error.message : 'an error in this page';
    for (const row of rows.slice(done)) onFinding(row, buildUncheckedFinding(reason));
  }
}

/**
 * Verifies the chain id, in one batch with the first calls of the search and, for a single row, its attestations.
 * @param {CheckTask} task
 */
async function startChainReads(task) {
  const { rows, shown, info, endpoint } = task;
  /** @type {AttestationReads} */
  const readings = new Map();
  const first = buildFirstCalls(computeSearchRange(rows, readings), endpoint);
  const uids = rows.length === 1 ? collectUids(rows, shown) : [];
  const answers = await callRecordChain(task, [...first, ...uids.map((uid) => buildAttestationCall(info.contracts.eas, uid))]);
  for (const [index, uid] of uids.entries()) readings.set(uid, parseAttestationAnswer(answers[first.length + index]));
  return { readings, firstAnswers: answers.slice(0, first.length) };
}

/** @param {CheckTask} task @param {readonly ScorecardRow[]} rows @param {SharedEvidence} found */
async function checkBatch(task, rows, found) {
  const { shown, info, endpoint, signal } = task;
  await readAttestations(found.readings, collectUids(rows, shown), { eas: info.contracts.eas, endpoint, signal });
  for (const row of rows) task.onFinding(row, await checkOneRow(task, row, found));
}

/**
 * An error in one row must not stop the check of the others.
 * @param {CheckTask} task @param {ScorecardRow} row @param {SharedEvidence} found @returns {Promise<Finding>}
 */
async function checkOneRow(task, row, found) {
  try {
    const finding = verifyRow(await collectEvidence(task, row, found));
    task.signal.throwIfAborted();
    return finding;
  } catch (error) {
    if (task.signal.aborted) throw error;
    reportError(error);
    return buildUncheckedFinding('the row of the service is malformed');
  }
}

/** @param {CheckTask} task @param {ScorecardRow} row @param {SharedEvidence} found @returns {Promise<Evidence>} */
async function collectEvidence({ shown, info, signal }, row, { readings, salts, commitments }) {
  const prediction = getReading(readings, row.attestationUid);
  const neighbours = findNeighbours(row, shown.known);
  const previousUid = neighbours.before?.attestationUid ?? null;
  return {
    row,
    horizon: shown.horizon,
    attester: info.chain.attester,
    prediction,
    neighbours,
    commitments,
    resolution: row.resolutionUid === null ? null : getReading(readings, row.resolutionUid),
    previous: previousUid === null ? null : getReading(readings, previousUid),
    salt: salts.get(String(row.attestationUid)) ?? null,
    metadata: await fetchMetadata(prediction, signal),
    now: new Date(),
  };
}

/** Uids of the rows and of their predecessors, without duplicates. @param {readonly ScorecardRow[]} rows @param {ShownRecord} shown */
function collectUids(rows, { known }) {
  const named = rows.flatMap((row) => [row.attestationUid, row.resolutionUid, findNeighbours(row, known).before?.attestationUid]);
  return [...new Set(named.map(String))].filter((uid) => UID_PATTERN.test(uid));
}

/** @param {AttestationReads} readings @param {string | null} uid @returns {AttestationRead} */
function getReading(readings, uid) {
  // An invalid uid exists on no chain.
  return uid === null ? { problem: 'it is not on chain yet' } : (readings.get(uid) ?? { attestation: null });
}

/** @param {AttestationRead} reading @param {AbortSignal} signal @returns {Promise<Evidence['metadata']>} */
async function fetchMetadata(reading, signal) {
  const digest = findMetadataDigest('attestation' in reading ? reading.attestation : null);
  return digest === null ? null : readMetadata(encodeCid(digest), signal);
}

/** Metadata is fetched only for authentic attestations; nothing is published for others. @param {Attestation | null} attestation */
function findMetadataDigest(attestation) {
  if (attestation === null || !isUidOfContent(attestation)) return null;
  try {
    return decodePredictionData(attestation).metadata;
  } catch {
    // The check itself reports undecodable data.
    return null;
  }
}

/**
 * Salts of calls that are visible before their resolution, by prediction uid.
 * @param {CheckTask} task @returns {Promise<ReadonlyMap<string, string>>}
 */
async function fetchSalts({ rows, shown, token, info }) {
  if (!rows.some(({ direction, resolutionUid }) => direction !== null && resolutionUid === null)) return new Map();
  try {
    const { most } = info.limits.attestationHistory;
    /** @type {{ data: { type: string, uid: string, salt: string | null }[] }} */
    const { data } = await requestApi(`api/svc/onchain-oracle/history?horizon=${shown.horizon}&limit=${most}`, { token });
    return new Map(data.flatMap(({ type, uid, salt }) => (type === 'prediction' && salt !== null ? [[uid, salt]] : [])));
  } catch {
    // Without salts the commitments stay unopened, and the finding says so.
    return new Map();
  }
}
