import { h, replace } from './dom.js';

/** @import { ScorecardRow } from './answers.ts' */
/** @import { Finding } from './verify.js' */

/**
 * The button that checks all rows that are shown, with progress; pressed again it stops.
 * @param {{
 *   rowsNow: () => readonly ScorecardRow[],
 *   check: (rows: readonly ScorecardRow[], options: { signal: AbortSignal, onFound: (row: ScorecardRow) => void }) => Promise<void>,
 *   findingOf: (row: ScorecardRow) => Finding | undefined,
 * }} options
 */
export function checkToolbar({ rowsNow, check, findingOf }) {
  const progress = h('progress', { 'aria-label': 'Rows checked', hidden: true });
  const words = h('span', { role: 'status' });
  /** @type {AbortController | null} */
  let running = null;
  const button = h('button', { type: 'button', class: 'primary', onclick: () => (running === null ? void run() : running.abort()) });

  /** Says how many there are to check. */
  function name() {
    const { length } = rowsNow();
    if (running === null) replace(button, length === 1 ? 'Check this one' : `Check these ${length}`);
  }

  async function run() {
    const rows = rowsNow();
    running = new AbortController();
    const { signal } = running;
    let done = 0;
    replace(button, 'Stop');
    replace(words);
    Object.assign(progress, { max: rows.length, value: 0, hidden: false });
    await check(rows, { signal, onFound: () => Object.assign(progress, { value: ++done }) });
    const tally = tallyOf(rows.slice(0, done).map(findingOf));
    replace(words, signal.aborted ? `Stopped after ${done} of ${rows.length}: ${tally}` : tally);
    progress.hidden = true;
    running = null;
    name();
  }
  return { element: h('div', { class: 'check-all' }, button, progress, words), name };
}

/** @param {readonly (Finding | undefined)[]} findings */
function tallyOf(findings) {
  const count = (/** @type {Finding['verdict']} */ verdict) => findings.filter((finding) => finding?.verdict === verdict).length;
  const gated = findings.filter((finding) => finding?.verdict === 'verified' && finding.open.length > 0).length;
  const soFar = gated === 0 ? '' : ` (${gated} of them so far: the rest when it is revealed)`;
  return `${count('verified')} verified${soFar}, ${count('mismatch')} do not match, ${count('unchecked')} could not be checked.`;
}
