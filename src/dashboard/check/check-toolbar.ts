import { type CheckId, getCheck } from '../../verify/catalogue.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { createCheckButton } from './check-button.ts';
import type { OnFinding } from './check-rows.ts';
import type { RowFinding } from './verify-row.ts';

/** Checks rows of the list. */
export type RunCheck = (rows: readonly ScorecardRow[], options: { signal: AbortSignal; onFound?: OnFinding }) => Promise<void>;

/** Button that checks all shown rows. */
export function createCheckToolbar({ rowsNow, check }: { rowsNow: () => readonly ScorecardRow[]; check: RunCheck }) {
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

/** Summary of many findings: verified (with those so far, void or incomplete), mismatches, unchecked. */
export function formatTally(found: readonly RowFinding[]): string {
  const { pass = [], fail = [], unknown = [] } = Object.groupBy(found, ({ verdict }) => verdict);
  const { open = [], over = [], void: isVoid = [] } = Object.groupBy(pass, ({ stage }) => stage);
  const lacks = [...open, ...over]
    .map(({ findings }) => findings.filter(({ check, outcome }) => outcome === 'unknown' && SEARCHED.includes(check)))
    .filter(({ length }) => length > 0);
  const lacking = [...new Set(lacks.flat().map(({ check }) => getCheck(check).title.toLowerCase()))].join(' and ');
  const apart = [
    open.length > 0 && `${open.length} so far, the rest once revealed`,
    isVoid.length > 0 && `${isVoid.length} as void, which never count`,
    lacks.length > 0 && `${lacks.length} without ${lacking}, which was unavailable: see the rows`,
  ].filter(Boolean);
  const text = apart.length === 0 ? '' : ` (${apart.join('; ')})`;
  return `${pass.length} verified${text}, ${fail.length} do not match, ${unknown.length} could not be checked.`;
}
