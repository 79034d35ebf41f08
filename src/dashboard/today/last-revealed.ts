import { h } from '../lib/dom.ts';
import { formatPercent } from '../lib/format.ts';
import { formatDate } from '../lib/format-text.ts';
import { formatCall, getRowElementId, renderPrices, renderStatus } from '../record/row-cells.ts';
import type { ScorecardRow } from '../state/responses.ts';

/** Rows that are rendered initially and can be linked to. */
const ROWS_ON_PAGE = 25;

/** A revealed call and its index in the record. */
interface RevealedCall {
  row: ScorecardRow;
  index: number;
}

/** @param rows newest first */
export function findNewestRevealed(rows: readonly ScorecardRow[]): RevealedCall | null {
  const index = rows.findIndex(({ resolutionUid, direction }) => resolutionUid !== null && direction !== null);
  return index < 0 ? null : { row: rows[index], index };
}

export function renderLastRevealed({ row, index }: RevealedCall) {
  return [
    h('h3', {}, 'Last revealed call'),
    h('p', {}, h('strong', {}, formatCall(row)), ` at ${formatPercent(row.confidence)}, of ${formatDate(row.date)}`),
    h('p', {}, [
      renderStatus(row),
      ' ',
      h('span', {}, renderPrices(row)),
      ' ',
      h('a', { href: `#${index < ROWS_ON_PAGE ? getRowElementId(row) : 'attestations'}` }, [
        'Verify',
        h('span', { class: 'visually-hidden' }, ` the call of ${formatDate(row.date)}`),
      ]),
    ]),
  ];
}
