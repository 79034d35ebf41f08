import { type Child, h } from './dom.ts';

export interface Column<Row> {
  heading: string;
  cell: (row: Row) => Child | readonly Child[];
  numeric?: boolean;
}

interface TableOptions<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  empty?: string;
}

/** A table that scrolls horizontally on narrow screens, by keyboard as well. The first column is the row header. */
export function renderTable<Row>({ caption, columns, rows, empty = 'Nothing yet.' }: TableOptions<Row>) {
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

function renderTableCell<Row>({ cell: content, numeric }: Column<Row>, row: Row, index: number) {
  const className = numeric ? 'numeric' : null;
  return index === 0 ? h('th', { scope: 'row', class: className }, content(row)) : h('td', { class: className }, content(row));
}
