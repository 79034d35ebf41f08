import { checkForecastEvidence } from '../../verify/check-forecast-evidence.ts';
import type { CheckContext, ForecastEvidence, ListedClaim } from '../../verify/evidence.ts';
import { createFindings, type Finding } from '../../verify/findings.ts';
import { getVerdict } from '../../verify/summary.ts';

/** `stage`: state that the row claims. */
export interface RowFinding {
  verdict: Finding['outcome'];
  stage: 'over' | 'open' | 'void';
  summary: string;
  findings: readonly Finding[];
}

const VERIFIED_LABELS = { over: 'Verified', open: 'Verified so far', void: 'Verified as void' };

export type RowEvidence = ForecastEvidence & { claimed: ListedClaim };

/** Checks a row of the scorecard against the chain. */
export function verifyRow(evidence: RowEvidence, context: CheckContext): RowFinding {
  const findings = createFindings();
  checkForecastEvidence(evidence, context, findings);
  const { list } = findings;
  const { status, resolutionUid } = evidence.claimed.row;
  const stage = status === 'VOID' ? 'void' : resolutionUid === null ? 'open' : 'over';
  const { pass = [], fail = [], unknown = [] } = Object.groupBy(list, ({ outcome }) => outcome);
  const summaries = {
    pass: `${VERIFIED_LABELS[stage]}: ${pass.length} checks`,
    fail: `Does not match: ${[...new Set(fail.map(({ check }) => check))].join(', ')}`,
    unknown: `Could not be checked: ${unknown.find(({ isDue }) => isDue)?.because}`,
  };
  const verdict = getVerdict(list);
  return { verdict, stage, summary: summaries[verdict], findings: list };
}

export function buildUncheckedFinding(reason: string): RowFinding {
  return { verdict: 'unknown', stage: 'open', summary: `Could not be checked: ${reason}`, findings: [] };
}
