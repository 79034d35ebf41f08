import { h, replace } from '../lib/dom.js';
import { findingView } from './finding-view.js';

/** @import { ScorecardRow } from '../state/answers.ts' */
/** @import { Found } from './row-checker.js' */
/** @import { Finding } from './verify.js' */

/**
 * Checks rows that are shown, and tells of each as it is found.
 * @typedef {(
 *   rows: readonly ScorecardRow[],
 *   options: { signal: AbortSignal, onFound?: (row: ScorecardRow, finding: Finding) => void },
 * ) => Promise<void>} Check
 */

/** @typedef {ReturnType<typeof rowView>} RowView */

/**
 * What is drawn of a row's check: its button, and below the row what was found.
 * @param {ScorecardRow} row
 * @param {{ foundNow: () => Found | undefined, check: Check }} options
 */
export function rowView(row, { foundNow, check }) {
  const below = h('div', {});
  const button = h(
    'button',
    { type: 'button', onclick: () => void run() },
    'Check',
    h('span', { class: 'visually-hidden' }, ` ${row.date}`),
  );
  function tell() {
    const found = foundNow();
    if (found === undefined) return;
    replace(below, findingView(found.finding, { ...found, onToggle: (open) => Object.assign(found, { open }) }));
  }
  async function run() {
    // One that is asked for by itself is said; of many at once the tally is.
    below.setAttribute('role', 'status');
    replace(below, h('p', { class: 'finding quiet' }, 'Reading the chain…'));
    try {
      await check([row], { signal: new AbortController().signal });
    } finally {
      if (foundNow() === undefined) replace(below);
    }
  }
  tell();
  return { below, button, tell };
}
