import { type CheckId, getCheck } from '../../verify/catalogue.ts';
import type { Finding } from '../../verify/findings.ts';
import { h, replaceChildren } from '../lib/dom.ts';
import type { ScorecardRow } from '../state/responses.ts';
import type { RowFinding } from './evidence/evidence.ts';

interface CheckToolbarOptions {
  rowsNow: () => readonly ScorecardRow[];
  check: (
    rows: readonly ScorecardRow[],
    options: { signal: AbortSignal; onFound: (row: ScorecardRow, finding: RowFinding) => void },
  ) => Promise<void>;
}

/** Button that checks all shown rows, with progress. A second click stops it. */
export function createCheckToolbar({ rowsNow, check }: CheckToolbarOptions) {
  const progress = h('progress', { 'aria-label': 'Rows checked', hidden: true });
  const text = h('span', { role: 'status' });
  let running: AbortController | null = null;
  const button = h('button', { type: 'button', class: 'primary', onclick: () => (running === null ? void run() : running.abort()) });

  /** Updates the label of the button. */
  function name() {
    const { length } = rowsNow();
    if (running === null) replaceChildren(button, length === 1 ? 'Check this row' : `Check these ${length}`);
  }

  async function run() {
    const rows = rowsNow();
    running = new AbortController();
    const { signal } = running;
    const findings: RowFinding[] = [];
    replaceChildren(button, 'Stop');
    replaceChildren(text);
    Object.assign(progress, { max: rows.length, value: 0, hidden: false });
    const onFound = (_: ScorecardRow, finding: RowFinding) => void Object.assign(progress, { value: findings.push(finding) });
    try {
      await check(rows, { signal, onFound });
    } finally {
      const done = findings.length;
      const tally = formatTally(findings);
      replaceChildren(text, done < rows.length ? `Stopped after ${done} of ${rows.length}: ${tally}` : tally);
      progress.hidden = true;
      running = null;
      name();
    }
  }
  return { element: h('div', { class: 'check-all' }, button, progress, text), name };
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
