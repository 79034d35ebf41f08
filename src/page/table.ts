import { el, type Markup } from './markup.ts';

export interface Column<Row> {
  heading: string;
  cell: (row: Row) => Markup;
  numeric?: boolean;
}

/** Wider tables are cards on narrow screens; roles keep their semantics there. */
const MAX_NARROW_COLUMNS = 4;

/** A table that scrolls horizontally on narrow screens, by keyboard as well. The first column is the row header. */
export function renderTable<Row>(table: { caption: string; columns: readonly Column<Row>[]; rows: readonly Row[] }) {
  const { caption, columns, rows } = table;
  if (rows.length === 0) return el('p', { class: 'empty' }, 'Nothing yet.');
  const isWide = columns.length > MAX_NARROW_COLUMNS;
  const role = (name: string) => ({ role: isWide && name });
  const headings = columns.map(({ heading, numeric }) =>
    el('th', { scope: 'col', class: numeric && 'numeric', ...role('columnheader') }, heading),
  );
  const lines = rows.map((row) => {
    const cells = columns.map(({ heading, cell, numeric }, index) => {
      const attributes = { class: numeric && 'numeric', 'data-heading': isWide && heading };
      return index === 0
        ? el('th', { scope: 'row', ...attributes, ...role('rowheader') }, cell(row))
        : el('td', { ...attributes, ...role('cell') }, el('span', {}, cell(row)));
    });
    return el('tr', role('row'), cells);
  });
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, [
    el('table', { class: isWide && 'cards', ...role('table') }, [
      el('caption', {}, caption),
      el('thead', role('rowgroup'), el('tr', role('row'), headings)),
      el('tbody', role('rowgroup'), lines),
    ]),
  ]);
}
