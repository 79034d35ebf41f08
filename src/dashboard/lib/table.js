import { h } from './dom.js';

/** @import { Child } from './dom.js' */

/**
 * @template Row
 * @typedef {{ heading: string, cell: (row: Row) => Child | readonly Child[], numeric?: boolean }} Column
 */

/**
 * A table that scrolls horizontally on narrow screens, by keyboard as well. The first column is the row header.
 * @template Row @param {{ caption: string, columns: readonly Column<Row>[], rows: readonly Row[], empty?: string }} options
 */
export function renderTable({ caption, columns, rows, empty = 'Nothing yet.' }) {
  if (rows.length === 0) return h('p', { class: 'empty' }, empty);
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      {},
      h('caption', {}, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map(({ heading, numeric }) => h('th', { scope: 'col', class: numeric ? 'numeric' : null }, heading)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) =>
          h(
            'tr',
            {},
            columns.map((column, index) => renderTableCell(column, row, index)),
          ),
        ),
      ),
    ),
  );
}

/** @template Row @param {Column<Row>} column @param {Row} row @param {number} index */
function renderTableCell({ cell: content, numeric }, row, index) {
  const className = numeric ? 'numeric' : null;
  return index === 0 ? h('th', { scope: 'row', class: className }, content(row)) : h('td', { class: className }, content(row));
}
