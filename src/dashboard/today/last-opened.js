import { pricesOf, rowId, saidIn, statusOf } from '../check/row-cells.js';
import { h } from '../lib/dom.js';
import { percent } from '../lib/format.js';
import { dayWords } from '../lib/words.js';

/** @import { ScorecardRow } from '../state/answers.ts' */

/** So many rows have a place of their own on the page from the beginning. */
const ROWS_THERE = 25;

/** A call that the chain has opened to everybody, and its place among all. @typedef {{ row: ScorecardRow, index: number }} Opened */

/**
 * The newest of them; null before there is one.
 * @param {readonly ScorecardRow[]} rows the newest first
 * @returns {Opened | null}
 */
export function newestOpened(rows) {
  const index = rows.findIndex(({ resolutionUid, direction }) => resolutionUid !== null && direction !== null);
  return index < 0 ? null : { row: rows[index], index };
}

/**
 * What it said, and how it ended.
 * @param {Opened} opened
 */
export function lastOpenedOf({ row, index }) {
  return [
    h('h3', {}, 'Last opened call'),
    h('p', {}, h('strong', {}, saidIn(row)), ` at ${percent(row.confidence)}, of ${dayWords(row.date)}`),
    h(
      'p',
      {},
      ...[statusOf(row), ' ', h('span', {}, pricesOf(row)), ' '],
      h(
        'a',
        { href: `#${index < ROWS_THERE ? rowId(row) : 'attestations'}` },
        'Check it',
        h('span', { class: 'visually-hidden' }, ` the call of ${dayWords(row.date)}`),
      ),
    ),
  ];
}
