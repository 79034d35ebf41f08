import type { Address } from 'viem';
import { readInBatches } from '../../audit/chain/audit-chain.ts';
import { checkAttestation } from '../../verify/checks/attestation.ts';
import { getShownOpening } from '../../verify/claims/rows.ts';
import { encodeCid } from '../../verify/encode-cid.ts';
import { createFindings } from '../../verify/findings.ts';
import { createMetadataReader } from '../chain/metadata.ts';
import { createAttestationReader, explainChainError, openRecordChain } from '../chain/record-chain.ts';
import { findNeighbours, type ShownRecord } from '../record/neighbours.ts';
import { requestApi } from '../state/api.ts';
import type { ApiResponses, AttestationHistory, ScorecardRow } from '../state/responses.ts';
import { findCommitmentsAround } from './commitments.ts';
import { findServed, readOpenings } from './distributions.ts';
import { findTimestamp, readRowTimestamps } from './timestamps.ts';
import { buildUncheckedFinding, type RowFinding, verifyRow } from './verify-row.ts';

export type OnFinding = (row: ScorecardRow, finding: RowFinding) => void;

export interface CheckTask {
  rows: readonly ScorecardRow[];
  shown: ShownRecord;
  info: ApiResponses['info'];
  endpoint: string;
  token: string | null;
  signal: AbortSignal;
  onFinding: OnFinding;
}

/** Prediction, resolution, and the prediction before. */
const CALLS_PER_ROW = 3;

const readMetadata = createMetadataReader((path, request) => fetch(new URL(path, document.baseURI), request));

/** Checks rows and reports each finding; stops when aborted. */
export async function checkRows(task: CheckTask): Promise<void> {
  const { rows, signal, onFinding } = task;
  const left = new Set(rows);
  try {
    const shared = await collectSharedEvidence(task);
    const check = async (row: ScorecardRow) => {
      const finding = await checkRow(task, row, shared);
      signal.throwIfAborted();
      left.delete(row);
      onFinding(row, finding);
    };
    await readInBatches(rows, { parallel: shared.chain.parallel / CALLS_PER_ROW, signal, read: check });
  } catch (error) {
    if (signal.aborted) return;
    const problem = explainChainError(error);
    for (const row of left) onFinding(row, buildUncheckedFinding(problem));
  }
}

type SharedEvidence = Awaited<ReturnType<typeof collectSharedEvidence>>;

/** Evidence that is fetched once for all rows. */
async function collectSharedEvidence(task: CheckTask) {
  const chain = await openRecordChain(task);
  const read = createAttestationReader(chain);
  const context = { attester: task.info.chain.attester.toLowerCase() as Address, now: new Date() };
  const rivals = await findCommitmentsAround(task.rows, { chain, signal: task.signal, ...context }, read);
  const openings = await readOpenings(task.rows, task.shown.horizon, task.signal);
  const timestamps = await readRowTimestamps(task.rows, task.signal);
  return { chain, context, read, rivals, openings, timestamps, salts: await fetchSalts(task) };
}

/** An error in one row must not stop the check of the others. */
async function checkRow(task: CheckTask, row: ScorecardRow, shared: SharedEvidence): Promise<RowFinding> {
  try {
    return verifyRow(await collectEvidence(task, row, shared), shared.context);
  } catch (error) {
    if (task.signal.aborted) throw error;
    reportError(error);
    return buildUncheckedFinding('the row of the service is malformed');
  }
}

async function collectEvidence(
  { shown, signal }: CheckTask,
  row: ScorecardRow,
  { read, salts, rivals, openings, timestamps, context }: SharedEvidence,
) {
  const { sequence, attestationUid, resolutionUid } = row;
  const neighbours = findNeighbours(row, shown.known);
  const { before } = neighbours;
  const [prediction, resolution, previous] = await Promise.all([
    read('prediction', attestationUid),
    read('resolution', resolutionUid),
    read('prediction', before?.attestationUid),
  ]);
  const made = prediction === null ? null : checkAttestation(prediction, context, createFindings());
  // An attestation that is not authentic names no metadata.
  const metadata = made
    ? await readMetadata(encodeCid(made.data.metadata), signal)
    : { problem: 'no metadata is published under its digest' };
  return {
    prediction: prediction ?? { sequence, day: null, horizonDays: null, windowOpensAt: new Date(row.windowOpensAt) },
    resolutions: resolution === null ? [] : [resolution],
    // That the row before is missing is a finding by itself.
    previous: before === null && sequence !== 1 ? undefined : previous,
    opening: resolution === null ? getShownOpening(row, salts.get(String(attestationUid)) ?? null) : undefined,
    metadata,
    timestamp: findTimestamp(timestamps, row),
    ...(resolution !== null && { distributions: findServed(openings, row, metadata) }),
    ...{ rivals, claimed: { row, horizon: shown.horizon, neighbours } },
  };
}

/** Salts of calls that are visible before their resolution, by prediction uid. */
async function fetchSalts({ rows, shown, token, info }: CheckTask): Promise<ReadonlyMap<string, string>> {
  if (!rows.some(({ direction, resolutionUid }) => direction !== null && resolutionUid === null)) return new Map();
  const path = `api/svc/onchain-oracle/history?horizon=${shown.horizon}&limit=${info.limits.attestationHistory.most}` as const;
  // Without salts the commitments stay unopened, and the finding says so.
  const { data } = await requestApi<AttestationHistory>(path, { token }).catch(() => ({ data: [] }));
  return new Map(data.flatMap(({ type, uid, salt }) => (type === 'prediction' && salt !== null ? [[uid, salt]] : [])));
}
