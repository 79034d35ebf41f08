import { h } from '../lib/dom.js';
import { formatPercent } from '../lib/format.js';
import { formatDate } from '../lib/format-text.js';
import { formatCall, getRowElementId, renderPrices, renderStatus } from '../record/row-cells.js';

/** @import { ScorecardRow } from '../state/responses.ts' */

/** Rows that are rendered initially and can be linked to. */
const ROWS_ON_PAGE = 25;

/** A revealed call and its index in the record. @typedef {{ row: ScorecardRow, index: number }} RevealedCall */

/** @param {readonly ScorecardRow[]} rows newest first @returns {RevealedCall | null} */
export function findNewestRevealed(rows) {
  const index = rows.findIndex(({ resolutionUid, direction }) => resolutionUid !== null && direction !== null);
  return index < 0 ? null : { row: rows[index], index };
}

/** @param {RevealedCall} opened */
export function renderLastRevealed({ row, index }) {
  return [
    h('h3', {}, 'Last revealed call'),
    h('p', {}, h('strong', {}, formatCall(row)), ` at ${formatPercent(row.confidence)}, of ${formatDate(row.date)}`),
    h(
      'p',
      {},
      renderStatus(row),
      ' ',
      h('span', {}, renderPrices(row)),
      ' ',
      h(
        'a',
        { href: `#${index < ROWS_ON_PAGE ? getRowElementId(row) : 'attestations'}` },
        'Verify',
        h('span', { class: 'visually-hidden' }, ` the call of ${formatDate(row.date)}`),
      ),
    ),
  ];
}
