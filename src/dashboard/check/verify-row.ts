import type { ScorecardRow } from '../state/responses.ts';
import { type CheckList, createCheckList, formatIsoSeconds, parseIsoSeconds } from './check-list.ts';
import type { Evidence, Finding } from './evidence/evidence.ts';
import { checkUnresolvedRow, hasOutcomeClaim } from './verify-open.ts';
import { checkPrediction } from './verify-prediction.ts';
import { checkRecordPosition } from './verify-record.ts';
import { checkResolution } from './verify-resolution.ts';

/** Outcomes are resolved every six hours; after two missed rounds one is overdue. */
const OVERDUE_SECONDS = 12 * 3_600;

const VERIFIED_LABELS = { over: 'Verified', open: 'Verified so far', void: 'Verified as void' };

/** Checks a row of the scorecard against the chain. */
export function verifyRow(evidence: Evidence): Finding {
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

/** A row without an attestation cannot be checked, unless it claims an outcome. */
function buildNotOnChainFinding({ row, now }: Evidence, list: CheckList) {
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

/** A withheld outcome looks like one that is still to come. */
function explainOverdue({ row: { status, resolvesAt, resolutionUid }, now }: Evidence) {
  const end = parseIsoSeconds(resolvesAt);
  if (status === 'VOID' || resolutionUid !== null || now.getTime() / 1_000 <= end + OVERDUE_SECONDS) return null;
  return `its window ended on ${formatIsoSeconds(end).slice(0, 10)}, and the service names no outcome`;
}

/** @param reason why the check is incomplete */
function buildFinding({ status, resolutionUid }: ScorecardRow, lists: readonly CheckList[], reason: string | null): Finding {
  const compared = { checks: lists.flatMap(({ checks }) => checks), open: lists.flatMap(({ open }) => open) };
  const stage = status === 'VOID' ? 'void' : resolutionUid === null ? 'open' : 'over';
  const wrong = [...new Set(compared.checks.filter(({ ok }) => !ok).map(({ about, field }) => `${about} ${field}`))];
  if (wrong.length > 0) return { verdict: 'mismatch', stage, summary: `Does not match: ${wrong.join(', ')}`, ...compared };
  if (reason !== null) return { ...buildUncheckedFinding(reason), stage, ...compared };
  return { verdict: 'verified', stage, summary: `${VERIFIED_LABELS[stage]}: ${compared.checks.length} checks`, ...compared };
}

export function buildUncheckedFinding(reason: string): Finding {
  return { verdict: 'unchecked', stage: 'open', summary: `Could not be checked: ${reason}`, checks: [], open: [] };
}
