import { renderFinding } from '../check/finding-view.js';
import { h, replaceChildren } from '../lib/dom.js';

/** @import { ScorecardRow } from '../state/responses.ts' */
/** @import { StoredFinding } from '../check/row-checker.js' */
/** @import { Finding } from '../check/verify-row.js' */

/**
 * @typedef {( rows: readonly ScorecardRow[], options: { signal: AbortSignal, onFound?: (row: ScorecardRow, finding: Finding) => void }, )
 * => Promise<void>} RunCheck
 */

/** @typedef {ReturnType<typeof createRowView>} RowView */

/**
 * The check button of a row, and its finding.
 * @param {ScorecardRow} row @param {{ foundNow: () => StoredFinding | undefined, check: RunCheck }} options
 */
export function createRowView(row, { foundNow, check }) {
  const below = h('div', {});
  const button = h(
    'button',
    { type: 'button', onclick: () => void run() },
    'Check',
    h('span', { class: 'visually-hidden' }, ` ${row.date}`),
  );
  function showFinding() {
    const found = foundNow();
    if (found === undefined) return;
    replaceChildren(below, renderFinding(found.finding, { ...found, onToggle: (open) => Object.assign(found, { open }) }));
  }
  async function run() {
    // A single check is announced to screen readers; for many, the tally is.
    below.setAttribute('role', 'status');
    replaceChildren(below, h('p', { class: 'finding quiet' }, 'Reading the chain…'));
    try {
      await check([row], { signal: new AbortController().signal });
    } finally {
      if (foundNow() === undefined) replaceChildren(below);
    }
  }
  showFinding();
  return { below, button, showFinding };
}
