import { type Children, h } from './dom.ts';

export interface Column<Row> {
  heading: string;
  cell: (row: Row) => Children;
  numeric?: boolean;
}

export interface Table<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}

/** A table that scrolls horizontally on narrow screens, by keyboard as well. The first column is the row header. */
export function renderTable<Row>({ caption, columns, rows }: Table<Row>) {
  if (rows.length === 0) return h('p', { class: 'empty' }, 'Nothing yet.');
  const headings = columns.map(({ heading, numeric }) => h('th', { scope: 'col', class: numeric && 'numeric' }, heading));
  const lines = rows.map((row) => {
    const cells = columns.map(({ cell, numeric }, index) => {
      const className = numeric && 'numeric';
      return index === 0 ? h('th', { scope: 'row', class: className }, cell(row)) : h('td', { class: className }, cell(row));
    });
    return h('tr', {}, cells);
  });
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, [
    h('table', {}, h('caption', {}, caption), h('thead', {}, h('tr', {}, headings)), h('tbody', {}, lines)),
  ]);
}
