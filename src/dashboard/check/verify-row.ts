import { checkForecastEvidence } from '../../verify/check-forecast-evidence.ts';
import type { CheckContext, ForecastEvidence, ListedClaim } from '../../verify/evidence.ts';
import { createFindings } from '../../verify/findings.ts';
import { getVerdict } from '../../verify/summary.ts';
import type { RowFinding } from './evidence/evidence.ts';

const VERDICTS = { pass: 'verified', fail: 'mismatch', unknown: 'unchecked' } as const;
const VERIFIED_LABELS = { over: 'Verified', open: 'Verified so far', void: 'Verified as void' };

export type RowEvidence = ForecastEvidence & { claimed: ListedClaim };

/** Checks a row of the scorecard against the chain. */
export function verifyRow(evidence: RowEvidence, context: CheckContext): RowFinding {
  const { list, ...findings } = createFindings();
  checkForecastEvidence(evidence, context, { ...findings, list });
  const { status, resolutionUid } = evidence.claimed.row;
  const stage = status === 'VOID' ? 'void' : resolutionUid === null ? 'open' : 'over';
  const verdict = VERDICTS[getVerdict(list)];
  const made = list.filter(({ outcome }) => outcome !== 'unknown');
  const summaries = {
    verified: () => `${VERIFIED_LABELS[stage]}: ${made.length} checks`,
    mismatch: () =>
      `Does not match: ${[...new Set(made.filter(({ outcome }) => outcome === 'fail').map(({ check }) => check))].join(', ')}`,
    unchecked: () => `Could not be checked: ${list.find(({ outcome, isDue }) => outcome === 'unknown' && isDue)?.because}`,
  };
  return { verdict, stage, summary: summaries[verdict](), findings: list };
}

export function buildUncheckedFinding(reason: string): RowFinding {
  return { verdict: 'unchecked', stage: 'open', summary: `Could not be checked: ${reason}`, findings: [] };
}
