import { type CheckId, getCheck } from '../../verify/catalogue.ts';
import type { Finding } from '../../verify/findings.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { createCheckButton } from './check-button.ts';
import type { RowFinding } from './verify-row.ts';

interface CheckToolbarOptions {
  rowsNow: () => readonly ScorecardRow[];
  check: (
    rows: readonly ScorecardRow[],
    options: { signal: AbortSignal; onFound: (row: ScorecardRow, finding: RowFinding) => void },
  ) => Promise<void>;
}

/** Button that checks all shown rows. */
export function createCheckToolbar({ rowsNow, check }: CheckToolbarOptions) {
  return createCheckButton({
    label: () => (rowsNow().length === 1 ? 'Check this row' : `Check these ${rowsNow().length}`),
    progressLabel: 'Rows checked',
    async run(signal, onProgress) {
      const rows = rowsNow();
      const findings: RowFinding[] = [];
      onProgress('', 0, rows.length);
      await check(rows, { signal, onFound: (_, finding) => onProgress('', findings.push(finding), rows.length) });
      const tally = formatTally(findings);
      return findings.length < rows.length ? `Stopped after ${findings.length} of ${rows.length}: ${tally}` : tally;
    },
  });
}

/** Checks whose evidence comes from elsewhere than the two attestations, and may be missing. */
const SEARCHED: readonly CheckId[] = ['metadata', 'onePrediction', 'link'];

const isUnavailable = ({ check, outcome }: Finding) => outcome === 'unknown' && SEARCHED.includes(check);

/** Summary of many findings: verified (with those so far, void or incomplete), mismatches, unchecked. */
export function formatTally(findings: readonly RowFinding[]) {
  const count = (verdict: RowFinding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const verified = findings.filter(({ verdict }) => verdict === 'verified');
  const soFar = verified.filter(({ stage }) => stage === 'open').length;
  const isVoid = verified.filter(({ stage }) => stage === 'void').length;
  const lacks = verified.map(({ stage, findings }) =>
    stage === 'void' ? [] : findings.filter(isUnavailable).map(({ check }) => getCheck(check).title.toLowerCase()),
  );
  const lacking = lacks.filter(({ length }) => length > 0).length;
  const what = [...new Set(lacks.flat())].join(' and ');
  const apart = [
    ...(soFar === 0 ? [] : [`${soFar} so far, the rest once revealed`]),
    ...(isVoid === 0 ? [] : [`${isVoid} as void, which never count`]),
    ...(lacking === 0 ? [] : [`${lacking} without ${what}, which was unavailable: see the rows`]),
  ];
  const text = apart.length === 0 ? '' : ` (${apart.join('; ')})`;
  return `${verified.length} verified${text}, ${count('mismatch')} do not match, ${count('unchecked')} could not be checked.`;
}
