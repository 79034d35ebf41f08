import type { Address } from 'viem';
import type { AuditChain } from '../../audit/chain/audit-chain.ts';
import { checkAttestation } from '../../verify/checks/attestation.ts';
import { getShownOpening } from '../../verify/claims/rows.ts';
import type { AttestationEvidence, ForecastEvidence, RivalSearch, Unread } from '../../verify/evidence.ts';
import { createFindings } from '../../verify/findings.ts';
import { type AttestationReads, readAttestations, toEvidence } from '../chain/attestations.ts';
import { createMetadataReader, encodeCid } from '../chain/metadata.ts';
import { explainChainError, openRecordChain } from '../chain/record-chain.ts';
import { findNeighbours, type ShownRecord } from '../record/neighbours.ts';
import { requestApi } from '../state/api.ts';
import type { AttestationHistory, ScorecardRow } from '../state/responses.ts';
import { findCommitmentsAround } from './commitments.ts';
import type { CheckTask, RowFinding } from './evidence/evidence.ts';
import { buildUncheckedFinding, type RowEvidence, verifyRow } from './verify-row.ts';

const ROWS_PER_BATCH = 25;
const UID_PATTERN = /^0x[0-9a-f]{64}$/i;

const readMetadata = createMetadataReader({ fetch: (path, request) => fetch(new URL(path, document.baseURI), request), now: Date.now });

/** Evidence that is fetched once for all rows. */
interface SharedEvidence {
  chain: AuditChain;
  salts: ReadonlyMap<string, string>;
  rivals: RivalSearch | Unread;
  readings: AttestationReads;
}

/** Checks rows and reports each finding; stops when aborted. */
export async function checkRows(task: CheckTask) {
  const { rows, signal, onFinding } = task;
  let done = 0;
  try {
    const chain = await openRecordChain(task);
    const readings: AttestationReads = new Map();
    if (rows.length === 1) await readAttestations(readings, collectUids(rows, task.shown), chain);
    const found = { chain, readings, salts: await fetchSalts(task), rivals: await findCommitmentsAround(task, chain, { readings }) };
    for (; done < rows.length; done += ROWS_PER_BATCH) await checkBatch(task, rows.slice(done, done + ROWS_PER_BATCH), found);
  } catch (error) {
    if (signal.aborted) return;
    const problem = explainChainError(error);
    if (problem === null) reportError(error);
    const reason = problem ?? 'an error in this page';
    for (const row of rows.slice(done)) onFinding(row, buildUncheckedFinding(reason));
  }
}

async function checkBatch(task: CheckTask, rows: readonly ScorecardRow[], found: SharedEvidence) {
  await readAttestations(found.readings, collectUids(rows, task.shown), found.chain);
  task.signal.throwIfAborted();
  for (const row of rows) task.onFinding(row, await checkOneRow(task, row, found));
}

/** An error in one row must not stop the check of the others. */
async function checkOneRow(task: CheckTask, row: ScorecardRow, found: SharedEvidence): Promise<RowFinding> {
  const attester = task.info.chain.attester.toLowerCase() as Address;
  try {
    const finding = verifyRow(await collectEvidence(task, row, found), { attester, now: new Date() });
    task.signal.throwIfAborted();
    return finding;
  } catch (error) {
    if (task.signal.aborted) throw error;
    reportError(error);
    return buildUncheckedFinding('the row of the service is malformed');
  }
}

async function collectEvidence(
  { shown, info, signal }: CheckTask,
  row: ScorecardRow,
  { readings, salts, rivals }: SharedEvidence,
): Promise<RowEvidence> {
  const { sequence, attestationUid, resolutionUid } = row;
  const neighbours = findNeighbours(row, shown.known);
  const prediction = attestationUid === null ? null : toEvidence(readings, attestationUid, 'prediction');
  const { before } = neighbours;
  const previous = before === null || before.attestationUid === null ? null : toEvidence(readings, before.attestationUid, 'prediction');
  return {
    prediction: prediction ?? { sequence, day: null, horizonDays: null, windowOpensAt: new Date(row.windowOpensAt) },
    resolutions: resolutionUid === null ? [] : [toEvidence(readings, resolutionUid, 'resolution')],
    // That the row before is missing is a finding by itself.
    previous: before === null && sequence !== 1 ? undefined : previous,
    opening: resolutionUid === null ? getShownOpening(row, salts.get(String(attestationUid)) ?? null) : undefined,
    metadata: await fetchMetadata(prediction, info.chain.attester as Address, signal),
    ...{ rivals, claimed: { row, horizon: shown.horizon, neighbours } },
  };
}

/** Uids of the rows and of their predecessors, without duplicates. */
function collectUids(rows: readonly ScorecardRow[], { known }: ShownRecord) {
  const named = rows.flatMap((row) => [row.attestationUid, row.resolutionUid, findNeighbours(row, known).before?.attestationUid]);
  return [...new Set(named.map(String))].filter((uid) => UID_PATTERN.test(uid));
}

/** Metadata is fetched only for authentic attestations; nothing is published for others. */
async function fetchMetadata(
  evidence: AttestationEvidence<'prediction'> | null,
  attester: Address,
  signal: AbortSignal,
): Promise<ForecastEvidence['metadata']> {
  const prediction = evidence === null ? null : checkAttestation(evidence, { attester, now: new Date() }, createFindings());
  if (prediction === null) return { problem: 'no metadata is published under its digest' };
  const read = await readMetadata(encodeCid(prediction.data.metadata), signal);
  return 'bytes' in read ? read.bytes : read;
}

/** Salts of calls that are visible before their resolution, by prediction uid. */
async function fetchSalts({ rows, shown, token, info }: CheckTask): Promise<ReadonlyMap<string, string>> {
  if (!rows.some(({ direction, resolutionUid }) => direction !== null && resolutionUid === null)) return new Map();
  try {
    const { most } = info.limits.attestationHistory;
    const { data } = await requestApi<AttestationHistory>(`api/svc/onchain-oracle/history?horizon=${shown.horizon}&limit=${most}`, {
      token,
    });
    return new Map(data.flatMap(({ type, uid, salt }) => (type === 'prediction' && salt !== null ? [[uid, salt]] : [])));
  } catch {
    // Without salts the commitments stay unopened, and the finding says so.
    return new Map();
  }
}
