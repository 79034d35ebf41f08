import { createCheckList, formatIsoSeconds, parseIsoSeconds } from './check-list.js';
import { checkUnresolvedRow, hasOutcomeClaim } from './verify-open.js';
import { checkPrediction } from './verify-prediction.js';
import { checkRecordPosition } from './verify-record.js';
import { checkResolution } from './verify-resolution.js';

/** @import { AttestationRead } from '../chain/attestations.js' */
/** @import { ScorecardRow } from '../state/responses.ts' */
/** @import { Check, CheckList, OpenCheck } from './check-list.js' */
/** @import { Commitments } from './commitments.js' */
/** @import { Neighbours } from '../record/neighbours.js' */

/**
 * Evidence for one row. `horizon`: chosen by the reader, in days; `resolution`, `previous`: null when the row names none; `salt`: opens an
 * unresolved call for readers who may see it.
 * @typedef {{ row: ScorecardRow, horizon: number, attester: string, prediction: AttestationRead, resolution: AttestationRead | null,
 * neighbours: Neighbours, previous: AttestationRead | null, commitments: Commitments, salt: string | null, metadata: { bytes: Uint8Array }
 * | { problem: string } | null, now: Date, }} Evidence
 */

/**
 * `verified`: every comparison agrees; `mismatch`: one does not; `unchecked`: none could be made. `stage`: state that the row claims.
 * @typedef {{ verdict: 'verified' | 'mismatch' | 'unchecked', stage: 'over' | 'open' | 'void', summary: string, checks: readonly Check[],
 * open: readonly OpenCheck[], }} Finding
 */

/** Outcomes are resolved every six hours; after two missed rounds one is overdue. */
const OVERDUE_SECONDS = 12 * 3_600;

const VERIFIED_LABELS = { over: 'Verified', open: 'Verified so far', void: 'Verified as void' };

/** Checks a row of the scorecard against the chain. @param {Evidence} evidence @returns {Finding} */
export function verifyRow(evidence) {
  const { row, prediction, resolution } = evidence;
  const recordChecks = createCheckList('record');
  const predictionChecks = createCheckList('prediction');
  const resolutionChecks = createCheckList('resolution');
  const lists = [predictionChecks, resolutionChecks, recordChecks];
  if (row.attestationUid === null) return buildNotOnChainFinding(evidence, predictionChecks);
  checkRecordPosition(recordChecks, evidence);
  if ('problem' in prediction) return buildFinding(row, lists, prediction.problem);
  const committed = checkPrediction(predictionChecks, evidence, prediction.attestation);
  if (committed !== null && resolution === null) checkUnresolvedRow(predictionChecks, evidence, committed);
  if (committed !== null && resolution !== null && 'attestation' in resolution) {
    checkResolution(resolutionChecks, evidence, { found: resolution.attestation, committed });
  }
  return buildFinding(row, lists, resolution !== null && 'problem' in resolution ? resolution.problem : explainOverdue(evidence));
}

/** A row without an attestation cannot be checked, unless it claims an outcome. @param {Evidence} evidence @param {CheckList} list */
function buildNotOnChainFinding({ row, now }, list) {
  if (hasOutcomeClaim(row) || row.resolutionUid !== null) {
    const what = 'The row claims an outcome and names its prediction.';
    list.add('attestation', what, { expected: 'an attestation', actual: null });
  }
  const opens = parseIsoSeconds(row.windowOpensAt);
  const isLate = now.getTime() / 1_000 >= opens;
  const when = `${formatIsoSeconds(opens).slice(0, 16)} UTC`;
  return buildFinding(
    row,
    [list],
    isLate ? `it is not on chain, and its window opened at ${when}` : `it is not on chain yet and must be before ${when}`,
  );
}

/** A withheld outcome looks like one that is still to come. @param {Evidence} evidence */
function explainOverdue({ row: { status, resolvesAt, resolutionUid }, now }) {
  const end = parseIsoSeconds(resolvesAt);
  if (status === 'VOID' || resolutionUid !== null || now.getTime() / 1_000 <= end + OVERDUE_SECONDS) return null;
  return `its window ended on ${formatIsoSeconds(end).slice(0, 10)}, and the service names no outcome`;
}

/**
 * @param {ScorecardRow} row @param {readonly CheckList[]} lists @param {string | null} reason why the check is incomplete
 * @returns {Finding}
 */
function buildFinding({ status, resolutionUid }, lists, reason) {
  const compared = { checks: lists.flatMap(({ checks }) => checks), open: lists.flatMap(({ open }) => open) };
  const stage = status === 'VOID' ? 'void' : resolutionUid === null ? 'open' : 'over';
  const wrong = [...new Set(compared.checks.filter(({ ok }) => !ok).map(({ about, field }) => `${about} ${field}`))];
  if (wrong.length > 0) return { verdict: 'mismatch', stage, summary: `Does not match: ${wrong.join(', ')}`, ...compared };
  if (reason !== null) return { ...buildUncheckedFinding(reason), stage, ...compared };
  return { verdict: 'verified', stage, summary: `${VERIFIED_LABELS[stage]}: ${compared.checks.length} checks`, ...compared };
}

/** @param {string} reason @returns {Finding} */
export function buildUncheckedFinding(reason) {
  return { verdict: 'unchecked', stage: 'open', summary: `Could not be checked: ${reason}`, checks: [], open: [] };
}
